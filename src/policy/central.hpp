// `fifo`, `lifo`, `random`: one queue for all.
//
// fifo: MIR's `central` (thesis ch. 3, artifact) and the baseline FIFO of hardware scheduling (Token and Reference
// scheduling, section 4). lifo: MIR's `central-stack`, its default. random: the same paper's Random, any ready task.
// Every task passes one lock: meant for comparison, not for speed.
#pragma once

#include "policy/policy.hpp"
#include "policy/settings.hpp"
#include "queue/shared_queue.hpp"

namespace kith {

template <class World, queue_order Order>
class central final : public policy<World> {
 public:
  using worker = typename World::worker;

  central(const surroundings& s, settings&) : ready_(s.workers.everybody(), Order, {}, s.seed) {}

  typename policy<World>::wishes wants() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& by, moment) override {
    ready_.push(tasks, by);
    return nullptr;
  }
  look next(worker& by) override { return look::at(ready_.pop(by), look::empty); }

 private:
  shared_queue<World> ready_;
};

}  // namespace kith
