// `dfifo`: distributed first-in first-out, unaware of locality.
//
// RIP paper, section 6: each thread has its own ready queue, tasks are dealt round robin, a thread whose queue is empty
// steals. The paper does not say from whom; here the next worker with work loses its oldest task.
#pragma once

#include "policy/policy.hpp"
#include "policy/policy_options.hpp"
#include "policy/worker_queues.hpp"

namespace kith {

template <class World>
class dfifo final : public policy<World> {
 public:
  using worker = typename World::worker;

  dfifo(const policy_context& s, policy_options& options)
      : queues_(s, queue_order::fifo, options.take("steal", true, {{"on", true}, {"off", false}})) {}

  typename policy<World>::wishes wants() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) {
      queues_[static_cast<std::size_t>(dealt_.fetch_add(1, relaxed) % queues_.size())].push(*t, self);
    }
    return nullptr;
  }
  poll_result next(worker& self) override { return queues_.next(self); }

 private:
  worker_queues<World> queues_;
  typename World::template shared<std::uint64_t> dealt_{0};
};

}  // namespace kith
