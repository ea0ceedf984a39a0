// How the queues of `token` and `reference` are organised: their options.
#pragma once

#include "policy/contract/context.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/affinity_queues.hpp"

#include <array>

namespace kith {

inline constexpr std::array organisation_options{
    one_of("organisation", "deques|global", "a queue for each core, used at its ends; or one queue, searched entirely"),
    number("cap", 130, 100, 1'000'000,
           "(deques) a core's queue takes no task while it has this percent of the mean length"),
};

inline affinity_queues_shape organisation_in(const policy_context& s, const policy_options& given) {
  return {.cores = s.workers.size(),
          .everybody = s.workers.everybody(),
          .global = given.is("organisation", "global"),
          .cap = given.number("cap"),
          .seed = s.seed};
}

}  // namespace kith
