// `source`: a core prefers the tasks that were created on it.
//
// Token and Reference scheduling, section 4: Source. One queue for each worker. A ready task goes to its
// creator's queue, in order. A worker with an empty queue takes the oldest task of the next worker that has one.
// organisation=global: one queue, of which a core takes the oldest task that it created, else the oldest of all.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/organisation.hpp"
#include "policy/worker_queues.hpp"

#include <array>
#include <string_view>

namespace kith {

template <class World>
struct source_affinity : plain_affinity<World> {
  struct task_affinity {
    worker_id creator;
  };
  source_affinity(const policy_context& context, const policy_options& /*given*/) : workers_(context.workers.size()) {}

  task_affinity affinity_of(const task& t, const typename World::worker& self) const {
    return {t.creator(workers_, self.id)};
  }
  static double at(const task_affinity& h, worker_id core) { return h.creator == core ? 1 : 0; }
  static double planned(const task_affinity& h, worker_id core) { return at(h, core); }

 private:
  int workers_;
};

template <class World>
class source final : public policy<World> {
 public:
  using worker = typename World::worker;
  using affinity = source_affinity<World>;

  static constexpr std::string_view own_organisation = "deques";
  static constexpr std::array options{
      one_of("organisation", "deques|global", "a queue for each core, or one queue"),
  };

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
      .options = options,
      .explain = explain,
  };

  source(const policy_context& context, const policy_options&) : queues_(context, queue_order::fifo, true) {}

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    const int workers = static_cast<int>(queues_.size());
    for (task* t : tasks) queues_[t->creator(workers, self.id).index()].push(*t, self);
    return nullptr;
  }
  poll_result next(worker& self) override { return queues_.next(self); }

 private:
  worker_queues<World> queues_;
};

}  // namespace kith
