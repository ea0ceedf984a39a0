// `socket`: the programmer says on which node each task runs (SA, socket-aware).
//
// RIP paper, section 6, and the "current socket" call of Nanos++'s socket policy. A task without a node goes to the
// node of its creator (deeper tasks inherit the parent's socket there).
#pragma once

#include "policy/node_queues.hpp"
#include "policy/policy.hpp"

#include <kith/error.hpp>

namespace kith {

template <class World>
class socket final : public policy<World> {
 public:
  using worker = typename World::worker;

  socket(const policy_context& s, policy_options& options) : team_(s.workers), queues_(s, options) {}

  typename policy<World>::wishes wants() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) queues_[node_for(*t, self)].push(*t, self);
    return nullptr;
  }
  poll_result next(worker& self) override { return queues_.next(self); }

 private:
  node_id node_for(const task& t, const worker& self) const {
    if (t.node != task::no_node) return node_id(t.node % queues_.size());  // written for a larger machine: wrap
    return t.owner < team_.size() ? team_.node_of(worker_id(t.owner)) : self.node;
  }

  const team& team_;
  node_queues<World> queues_;
};

}  // namespace kith
