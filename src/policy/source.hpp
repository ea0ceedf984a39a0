// `source`: a core prefers the tasks that were created on it.
//
// Token and Reference scheduling, section 4: Source. One queue for each worker. A ready task goes to its
// creator's queue, in order. A worker with an empty queue takes the oldest task of the next worker that has one.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/worker_queues.hpp"

namespace kith {

template <class World>
class source final : public policy<World> {
 public:
  using worker = typename World::worker;

  [[gnu::cold]] static void explain(explainer& e) {
    if (e.is_created_here()) {
      e.say_of_policy("a core prefers tasks that were created on it; " + e.worker_text(e.facts.worker) +
                      " created this one");
    } else {
      e.say_of_policy("it was created by " +
                      (e.facts.creator_worker < 0 ? "the outside" : e.worker_text(e.facts.creator_worker)) + "; " +
                      e.worker_text(e.facts.worker) + " had none of its own left");
    }
    e.say_origin();
  }

  static constexpr policy_entry about{
      .name = "source",
      .paper = "HW",
      .section = "4",
      .summary = "a core prefers tasks created on it",
      .options = {},
      .explain = explain,
  };

  source(const policy_context& s, const policy_options&) : queues_(s, queue_order::fifo, true) {}

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    for (task* t : tasks) {
      const bool by_worker = t->owner < queues_.size();  // else it came from outside: the finder keeps it
      queues_[by_worker ? t->owner : self.id.index()].push(*t, self);
    }
    return nullptr;
  }
  poll_result next(worker& self) override { return queues_.next(self); }

 private:
  worker_queues<World> queues_;
};

}  // namespace kith
