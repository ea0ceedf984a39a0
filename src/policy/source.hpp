// `source`: a core prefers the tasks that were created on it.
//
// Token and Reference scheduling, section 4: Source. One queue for each worker; a ready task goes to its creator's, in
// order; a worker whose queue is empty takes the oldest task of the next worker that has one.
#pragma once

#include "policy/policy.hpp"
#include "policy/settings.hpp"
#include "policy/worker_queues.hpp"

namespace kith {

template <class World>
class source final : public policy<World> {
 public:
  using worker = typename World::worker;

  source(const surroundings& s, settings&) : queues_(s, queue_order::fifo, true) {}

  typename policy<World>::wishes wants() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& by, moment) override {
    for (task* t : tasks) {
      const bool by_worker = t->owner < queues_.size();  // else it came from outside: whoever found it has it
      queues_[by_worker ? t->owner : by.id.index()].push(*t, by);
    }
    return nullptr;
  }
  look next(worker& by) override { return queues_.next(by); }

 private:
  worker_queues<World> queues_;
};

}  // namespace kith
