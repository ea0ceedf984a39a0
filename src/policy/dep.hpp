// `dep`: dependency easy placement. A task runs where most of its data is; untouched data gets its home from its
// first task.
//
// RIP paper, section 4.1; easy_placement.hpp has the rule. Placement happens when the task becomes ready.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/easy_placement.hpp"
#include "policy/node_queues.hpp"

namespace kith {

template <class World>
class dep final : public policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr auto options = node_queues<World>::options;
  [[gnu::cold]] static void explain(explainer& e) {
    if (!explain_as_steal<World>(e)) explain_easy_placement(e);
  }
  static constexpr policy_entry about{
      .name = "dep",
      .paper = "RIP",
      .section = "4.1",
      .summary = "a task runs where most of its data is",
      .options = options,
      .explain = explain,
  };

  dep(const policy_context& context, const policy_options& given) : queues_(context, given), place_(context) {}

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
