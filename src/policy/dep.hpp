// `dep`: dependency easy placement. A task runs where most of its data is; data nobody has touched follows its first
// task.
//
// RIP paper, section 4.1; easy_placement.hpp has the rule. Placement happens when the task becomes ready.
#pragma once

#include "policy/easy_placement.hpp"
#include "policy/node_queues.hpp"
#include "policy/policy.hpp"

namespace kith {

template <class World>
class dep final : public policy<World> {
 public:
  using worker = typename World::worker;

  dep(const policy_context& s, policy_options& options) : queues_(s, options), place_(s) {}

  typename policy<World>::wishes wants() const override { return {.homes = queues_.size() > 1}; }

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
