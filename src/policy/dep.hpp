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

  dep(const surroundings& s, settings& options) : queues_(s, options), place_(s) {}

  typename policy<World>::wishes wants() const override { return {.homes = queues_.size() > 1}; }

  task* ready(std::span<task* const> tasks, worker& by, moment) override {
    for (task* t : tasks) queues_[place_(*t, by)].push(*t, by);
    return nullptr;
  }
  look next(worker& by) override { return queues_.next(by); }

 private:
  node_queues<World> queues_;
  easy_placement<World> place_;
};

}  // namespace kith
