// `fifo`, `lifo`, `random`: one queue for all workers.
//
// fifo: MIR's `central` (thesis ch. 3, artifact) and the baseline FIFO of hardware scheduling (Token and Reference
// scheduling, section 4). lifo: MIR's `central-stack`, its default. random: the same paper's Random, any ready task.
// Every task passes one lock: meant for comparison, not for speed.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/shared_queue.hpp"

namespace kith {

template <class World, queue_order Order>
class central final : public policy<World> {
 public:
  using worker = typename World::worker;

  [[gnu::cold]] static void explain(explainer& e) {
    e.say_of_policy("one queue for all workers; " + e.worker_text(e.facts.worker) +
                    " asked when it was this task's turn");
  }

  static constexpr policy_entry about =
      Order == queue_order::fifo
          ? policy_entry{"fifo", "MIR", "ch. 3 (central)", "one queue, first in first out", {}, true, false, explain}
      : Order == queue_order::lifo
          ? policy_entry{"lifo", "MIR",  "ch. 3 (central-stack)", "one queue, last in first out", {}, true,
                         false,  explain}
          : policy_entry{"random", "HW", "4", "one queue, any ready task", {}, true, false, explain};

  central(const policy_context& s, const policy_options&) : ready_(s.workers.everybody(), Order, {}, s.seed) {}

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    ready_.push(tasks, self);
    return nullptr;
  }
  poll_result next(worker& self) override { return poll_result::at(ready_.pop(self), poll_result::empty); }

 private:
  shared_queue<World> ready_;
};

}  // namespace kith
