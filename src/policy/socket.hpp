// `socket`: the programmer names the node of each task (SA, socket-aware).
//
// RIP paper, section 6, and the "current socket" call of Nanos++'s socket policy. A task without a node goes to the
// node of its creator (deeper tasks inherit the parent's socket there).
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/node_queues.hpp"

#include <kith/error.hpp>

namespace kith {

template <class World>
class socket final : public policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr auto options = node_queues<World>::options;
  [[gnu::cold]] static void explain(explainer& e) {
    if (explain_as_steal<World>(e)) return;
    const placement_facts& f = e.facts;
    if (f.named_node >= 0) {
      e.say_of_policy("the program names node " + e.text(f.named_node) + " for it");
      e.compare_with(f.named_node % static_cast<std::int32_t>(f.nodes.size()));
    } else {
      e.say_of_policy("the program names no node for it: it goes to the node of its creator, " +
                      (f.creator_worker < 0 ? "which is outside" : "node " + e.text(f.creator_node)));
      if (f.creator_worker >= 0) e.compare_with(f.creator_node);
    }
  }

  static constexpr policy_entry about{
      .name = "socket",
      .paper = "RIP",
      .section = "6 (SA)",
      .summary = "the programmer names each task's node",
      .options = options,
      .explain = explain,
  };

  socket(const policy_context& context, const policy_options& given)
      : team_(context.workers), queues_(context, given) {}

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }
  bool leaves_short_tasks() const override { return queues_.size() == 1; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) queues_[node_for(*t, self)].push(*t, self);
    return nullptr;
  }
  poll_result next(worker& self) override { return queues_.next(self); }

 private:
  node_id node_for(const task& t, const worker& self) const {
    if (t.node != task::no_node) return node_id(t.node % queues_.size());  // wraps on a smaller machine
    return team_.node_of(t.creator(team_.size(), self.id));
  }

  const team& team_;
  node_queues<World> queues_;
};

}  // namespace kith
