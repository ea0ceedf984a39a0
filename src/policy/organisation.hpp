// Policies that choose by affinity, on the queues of queue/affinity_queues.hpp, and the options of those queues.
//
// `token` and `reference` are such policies in both organisations. `fifo`, `random` and `source` have faster queues of
// their own for their first organisation, and are such policies in the other (list.cpp).
#pragma once

#include "policy/contract/context.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/affinity_queues.hpp"

#include <array>
#include <string_view>

namespace kith {

inline constexpr policy_option cap_option = number(
    "cap", 130, 100, 1'000'000, "(deques) a core's queue takes no task while it has this percent of the mean length");
inline constexpr std::array organisation_options{
    one_of("organisation", "deques|global",
           "a queue for each core, of which only the ends are looked at; or one queue, searched entirely"),
    cap_option};

inline affinity_queues_shape organisation_in(const policy_context& context, const policy_options& given) {
  const bool global = given.is("organisation", "global");
  return {.cores = context.workers.size(),
          .everybody = context.workers.everybody(),
          .global = global,
          .grouped = !global && given.has("grouped") && given.is("grouped", "on"),
          .cap = given.has("cap") ? given.number("cap") : cap_option.otherwise,
          .seed = context.seed};
}

/// A rule that reads no data of tasks and learns nothing from what was assigned.
template <class World>
struct plain_affinity {
  static constexpr typename policy<World>::data_needs needs{.accesses = false};
  static constexpr bool random_ties = false;
  static void queued(const auto& /*affinity*/, worker_id /*core*/) {}
  static void assigned(const auto& /*affinity*/, worker_id /*core*/) {}
};

template <class World, class Affinity>
class affinity_policy : public policy<World> {
 public:
  using worker = typename World::worker;

  affinity_policy(const policy_context& context, const policy_options& given)
      : queues_(organisation_in(context, given), context, given) {}

  typename policy<World>::data_needs needs() const override { return Affinity::needs; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    queues_.push(tasks, self);
    return nullptr;
  }
  poll_result next(worker& self) override { return queues_.next(self); }

 private:
  affinity_queues<World, Affinity> queues_;
};

}  // namespace kith
