// A worker's own deque, as policies use it: counts its operations and rings for thieves. One source for both worlds.
#pragma once

#include "base/worker_set.hpp"
#include "queue/dead_entries.hpp"
#include "queue/look.hpp"
#include "recording/event.hpp"
#include "task/task.hpp"

#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

namespace kith {

template <class World>
class own_deque {
 public:
  using allocator_type = std::pmr::polymorphic_allocator<>;
  using worker = typename World::worker;

  /// `audience`: the owner, and who may steal.
  own_deque(worker_id owner, worker_set audience, allocator_type memory = std::pmr::new_delete_resource())
      : entries_(memory), owner_(owner), audience_(std::move(audience)) {}

  // ---- the owner
  void push(task& t, worker& by) {
    if (by.dead.too_many()) [[unlikely]]
      clean_up(by);
    if (short_tasks_.load(relaxed) != by.short_tasks) short_tasks_.store(by.short_tasks, relaxed);
    entries_.push(&t);
    by.meter(event::push, owner_);
    by.ring(audience_);
  }
  task* pop(worker& by) {
    task* t = entries_.pop();
    if (t != nullptr) by.meter(event::pop, owner_);
    return t;
  }
  /// The oldest of its own; false if there was none, or a thief was faster.
  bool take_oldest(task*& t, worker& by) {
    if (entries_.steal(t) != theft::got) return false;
    by.meter(event::pop, owner_);
    return true;
  }

  // ---- thieves
  theft steal(task*& t, worker& by) {
    by.meter(event::steal_attempt, owner_);
    const theft outcome = entries_.steal(t);
    if (outcome == theft::got) by.meter(event::steal, owner_);
    return outcome;
  }

  /// The owner's tasks are so short that taking one costs more than it is worth.
  bool short_tasks() const noexcept { return short_tasks_.load(relaxed); }
  std::int64_t size() const noexcept { return entries_.size(); }
  std::int64_t bottom() const noexcept { return entries_.bottom(); }

 private:
  [[gnu::noinline, gnu::cold]] void clean_up(worker& by) {
    std::vector<task*> kept;
    for (std::size_t n = drop_dead(entries_, by.dead, [&](task& t) { return by.drop_if_dead(t); }, kept); n > 0; --n)
      by.ring(audience_);
  }

  typename World::template deque<task> entries_;
  worker_id owner_;
  typename World::template shared<bool> short_tasks_{false};  // what the owner said at its last push
  worker_set audience_;
};

}  // namespace kith
