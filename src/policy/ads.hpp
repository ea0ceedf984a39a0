// `ads`: affinity-driven distributed scheduling inside one place.
//
// ADS paper, section 4 (figure 3). Each worker has a ready deque; new tasks go to its bottom, which is the owner's end,
// and thieves take from its top. A task that an end made ready goes to the top of the deque of the worker that made it
// ready. A worker without tasks draws a random victim; after each failed attempt it takes the oldest task of the fresh
// activity buffer (FAB), which has the tasks from outside: from other places (docs/places.md). Tasks that wait for
// predecessors, or in a wait, are the paper's stall buffers: the engine keeps them. Not in the paper: a creator
// continues and its child is queued (help-first), because a C++ function cannot be stolen in the middle; tasks of a
// higher priority leave each queue first.
//
// The upper part of a ready deque is a queue of its own, because a deque's owner pushes only at the bottom. Its last
// task is the topmost of all; the owner takes its first task when the lower part is empty.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/random_victims.hpp"
#include "queue/leveled_deque.hpp"
#include "queue/make_in.hpp"
#include "queue/shared_queue.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kith {

template <class World>
class ads final : public policy<World> {
 public:
  using worker = typename World::worker;

  [[gnu::cold]] static void explain(explainer& e) {
    const placement_facts& f = e.facts;
    if (e.say_origin()) return;
    const std::string worker = e.worker_text(f.worker);
    if (f.released_here) {
      e.say_of_policy(worker + " ended its last predecessor (" + f.released_by + "), and had it in its ready deque");
    } else if (e.is_created_here()) {
      e.say_of_policy(worker + " created it, and had it in its ready deque");
    } else {
      e.say_of_policy(worker +
                      " had no task of its own, and took it from another worker or from the fresh activity "
                      "buffer");
    }
  }

  static constexpr policy_entry about{
      .name = "ads",
      .paper = "ADS",
      .section = "4",
      .summary = "inside a place: random stealing, a buffer for tasks from outside, enabled tasks to the thieves' end",
      .options = {},
      .explain = explain,
  };

  ads(const policy_context& context, const policy_options&)
      : fresh_(context.workers.everybody(), queue_order::fifo), victims_(context.workers, context.seed) {
    for (int w = 0; w < context.workers.size(); ++w) {
      ready_.push_back(
          make_in<ready_deque>(context.memory_of(worker_id(w)), worker_id(w), context.workers.everybody()));
    }
  }

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason why) override {
    ready_deque& own = *ready_[self.id.index()];
    switch (why) {
      case ready_reason::arrival: fresh_.push(tasks, self); break;
      case ready_reason::completion:
        own.upper.push(tasks, self);
        sample(own, self);
        break;
      case ready_reason::creation:
      case ready_reason::discovery:
        for (task* t : tasks) own.lower.push(*t, self);
        sample(own, self);
        break;
    }
    return nullptr;
  }

  poll_result next(worker& self) override {
    if (task* t = take_own(*ready_[self.id.index()], self)) return victims_.found(self.id, *t);
    std::uint64_t began = self.now();
    const auto took = [&](event e) {
      const std::uint64_t end = self.now();
      self.meter(e, {}, end - std::exchange(began, end));
    };
    if (!victims_.none()) {
      task* const t = steal(*ready_[victims_.draw(self.id).index()], self);
      took(event::steal_time);
      if (t != nullptr) return victims_.found(self.id, *t);
    }
    self.meter(event::arrival_attempt, {});
    task* const t = fresh_.pop(self);
    took(event::arrival_time);
    if (t != nullptr) return victims_.found(self.id, *t);
    if (victims_.none()) return {poll_result::empty};
    return victims_.failed(self.id, *this);
  }

  /// Called by random_victims.
  bool empty(worker_id w) const noexcept {
    const ready_deque& there = *ready_[w.index()];
    return there.lower.size() == 0 && there.upper.size() == 0;
  }

 private:
  struct ready_deque {
    using allocator_type = std::pmr::polymorphic_allocator<>;
    ready_deque(worker_id owner, const worker_set& audience, allocator_type memory = std::pmr::new_delete_resource())
        : lower(owner, audience, memory), upper(audience, queue_order::fifo, owner, 0, memory) {}
    leveled_deque<World> lower;
    shared_queue<World> upper;
  };

  /// The paper's space of a ready deque (figures 22 to 24), after a push.
  static void sample(const ready_deque& own, worker& self) {
    const auto length = static_cast<std::uint64_t>(own.lower.size() + own.upper.size());
    self.meter(event::deque_sampled, self.id);
    self.meter(event::deque_length, self.id, length);
    self.sums.raise(event::deque_peak, length);
  }
  static task* take_own(ready_deque& own, worker& self) {
    if (own.upper.highest() < own.lower.highest()) {
      if (task* t = own.upper.pop(self)) return t;  // else a thief was faster
    }
    if (task* t = own.lower.pop(self)) return t;
    return own.upper.pop(self);
  }
  static task* steal(ready_deque& there, worker& self) {
    if (there.upper.size() > 0 && there.upper.highest() <= there.lower.highest()) {
      if (task* t = there.upper.steal(self, queue_end::last)) return t;
    }
    task* t = nullptr;
    return there.lower.steal(t, self) == steal_result::got ? t : nullptr;
  }

  std::vector<std::shared_ptr<ready_deque>> ready_;
  shared_queue<World> fresh_;
  random_victims victims_;
};

}  // namespace kith
