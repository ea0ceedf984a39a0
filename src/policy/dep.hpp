// `dep`: dependency easy placement. A task runs where most of its data is; untouched data gets its home from its
// first task.
//
// RIP paper, section 4.1; easy_placement.hpp has the rule. Placement happens when the task becomes ready. Not in the
// paper: if one node has all workers, the rule leaves nothing to decide, and these workers have a deque each, as under
// `steal` (list.cpp), in place of the node's locked queue (queue=auto).
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/easy_placement.hpp"
#include "policy/node_queues.hpp"
#include "policy/steal.hpp"

#include <array>
#include <cstdint>

namespace kith {

template <class World>
class dep final : public policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr auto options = joined(
      node_queues<World>::options,
      std::array{one_of("queue", "auto|node",
                        "auto: if one node has all workers, each has a deque; node: always one queue for a node")});
  /// Whether the rule leaves nothing to decide: one node has all workers.
  static bool is_steal(std::int32_t inhabited_nodes, const policy_options& given) {
    return inhabited_nodes == 1 && given.is("queue", "auto") && given.is("order", "ready");
  }
  [[gnu::cold]] static void explain(explainer& e) {
    if (!is_steal(e.inhabited_nodes(), e.options)) return explain_easy_placement(e);
    e.say_of_policy("one node has all workers, so it is `steal`");
    steal<World>::explain(e);
  }
  static constexpr policy_entry about{
      .name = "dep",
      .paper = "RIP",
      .section = "4.1",
      .summary = "a task runs where most of its data is",
      .options = options,
      .explain = explain,
  };

  dep(const policy_context& s, const policy_options& given) : queues_(s, given), place_(s) {}

  typename policy<World>::data_needs needs() const override {
    return {.homes = queues_.size() > 1, .accesses = queues_.size() > 1};
  }
  bool leaves_short_tasks() const override { return queues_.size() == 1; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) queues_[place_(*t, self)].push(*t, self);
    return nullptr;
  }
  poll_result next(worker& self) override { return queues_.next(self); }

 private:
  node_queues<World> queues_;
  easy_placement<World> place_;
};

}  // namespace kith
