// A worker's queue in which each task has a position. The task with the lowest position leaves first; pop() can hold
// it back.
//
// Any worker may push; only the owner pops. A lock with short critical sections guards the queue.
#pragma once

#include "base/atomic.hpp"
#include "base/worker_set.hpp"
#include "events/event.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory_resource>
#include <mutex>
#include <utility>
#include <vector>

namespace kith {

/// What refuse_first() found when all workers seemed to sleep.
enum class held_task : std::uint8_t { none, perhaps_new, refused };

template <class World>
class alignas(false_sharing_range) ordered_queue {
 public:
  using allocator_type = std::pmr::polymorphic_allocator<>;
  using worker = typename World::worker;
  using position = std::int64_t;

  ordered_queue(worker_id owner, allocator_type memory)
      : heap_(memory), audience_(worker_set::only(owner)), owner_(owner) {}

  void push(task& t, position at, worker& self) {
    {
      std::lock_guard lock(guard_);
      heap_.emplace_back(at, &t);
      std::ranges::push_heap(heap_, std::greater<>());
    }
    self.at(this);
    self.meter(event::push, owner_);
    self.ring(audience_);
  }

  struct placed_task {
    task* work;
    position at;
  };
  /// The first task, if its position is at most `last`; else null.
  placed_task pop(position last, worker& self) {
    self.at(this);
    placed_task first{};
    {
      std::lock_guard lock(guard_);
      if (heap_.empty() || heap_.front().first > last) return first;
      std::ranges::pop_heap(heap_, std::greater<>());
      first = {heap_.back().second, heap_.back().first};
      heap_.pop_back();
    }
    self.meter(event::pop, owner_);
    return first;
  }

  /// Wakes the owner, which may take more tasks now.
  void ring(worker& self) { self.ring(audience_); }

  /// For gate::stalled(): calls refuse(task, position) with the first task, unless a worker has woken meanwhile. That
  /// worker may have pushed the task just then.
  template <class Refuse>
  held_task refuse_first(worker& self, Refuse&& refuse) {
    // The task is taken out, because a worker that wakes at this point may look into the queue.
    const auto [work, at] = pop(std::numeric_limits<position>::max(), self);
    if (work == nullptr) return held_task::none;
    const bool slept = self.all_sleep();
    if (slept) refuse(*work, at);
    push(*work, at, self);
    return slept ? held_task::refused : held_task::perhaps_new;
  }

 private:
  typename World::mutex guard_;
  std::pmr::vector<std::pair<position, task*>> heap_;
  worker_set audience_;
  worker_id owner_;
};

}  // namespace kith
