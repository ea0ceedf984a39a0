// Policies that choose a node for each task, where one node has all workers: their rules leave nothing to decide.
// With queue=auto each worker has a deque then, as under `steal`, in place of the node's locked queue (list.cpp). Not
// in the papers. Shared by `numa`, `socket`, `dep`, `rip-dep` and `rip-mw`.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/steal.hpp"

#include <cstdint>

namespace kith {

inline constexpr policy_option queue_option = one_of("queue", "auto|node",
                                                     "auto: if one node has all workers and order=ready, the policy is "
                                                     "steal, without other options; node: always queues for nodes");

/// Whether a policy with `queue_option` and `ready_order` is `steal` on this machine.
inline bool is_steal(std::int32_t inhabited_nodes, const policy_options& given) {
  return inhabited_nodes == 1 && given.is("queue", "auto") && given.is("order", "ready");
}

/// Explains the task if the policy is `steal`; false if it is not.
template <class World>
[[gnu::cold]] bool explain_as_steal(explainer& e) {
  if (!is_steal(e.inhabited_nodes(), e.options)) return false;
  e.say_of_policy("one node has all workers, so it is `steal`");
  steal<World>::explain(e);
  return true;
}

}  // namespace kith
