// `dfifo`: distributed first-in first-out, unaware of locality.
//
// RIP paper, section 6: each thread has its own ready queue, tasks are dealt round robin, and a thread with an
// empty queue steals. The paper does not name the victim; here a thief takes the oldest task of the next worker
// that has one.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/worker_queues.hpp"

namespace kith {

template <class World>
class dfifo final : public policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      one_of("steal", "on|off", "whether an idle worker takes the oldest task of the next worker that has one"),
  };
  [[gnu::cold]] static void explain(explainer& e) {
    e.say_of_policy("tasks are dealt to the workers' queues in turn, wherever their data is");
    e.say_queue("its own queue: it was dealt to it");
  }

  static constexpr policy_entry about{
      .name = "dfifo",
      .paper = "RIP",
      .section = "6",
      .summary = "a queue for each worker, tasks dealt round robin",
      .options = options,
      .explain = explain,
  };

  dfifo(const policy_context& context, const policy_options& given)
      : queues_(context, queue_order::fifo, given.is("steal", "on")) {}

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }

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
