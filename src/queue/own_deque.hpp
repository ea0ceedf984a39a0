// A worker's own deque, as policies use it: counts its operations and rings for thieves. One source for both worlds.
#pragma once

#include "base/worker_set.hpp"
#include "events/event.hpp"
#include "queue/dead_entries.hpp"
#include "queue/poll_result.hpp"
#include "queue/theft_size.hpp"
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

  /// `audience` is the owner and the workers that may steal.
  own_deque(worker_id owner, worker_set audience, allocator_type memory = std::pmr::new_delete_resource())
      : entries_(memory), owner_(owner), audience_(std::move(audience)) {}

  // ---- the owner
  [[gnu::always_inline]] void push(task& t, worker& self) {
    if (self.dead.too_many() || !entries_.has_room()) [[unlikely]]
      return push_after_making_room(t, self);
    if (thefts_.load(relaxed) != self.thefts) thefts_.store(self.thefts, relaxed);
    entries_.push_in_room(&t);
    self.meter(event::push, owner_);
    if (self.anybody_sleeps()) [[unlikely]]
      self.ring(audience_);
  }
  [[nodiscard, gnu::always_inline]] task* pop(worker& self) {
    task* t = entries_.pop();
    if (t != nullptr) self.meter(event::pop, owner_);
    return t;
  }
  /// Takes the owner's oldest task; false if there was none, or a thief was faster.
  [[nodiscard]] bool take_oldest(task*& t, worker& self) {
    if (entries_.steal(t) != steal_result::got) return false;
    self.meter(event::pop, owner_);
    return true;
  }

  // ---- thieves
  steal_result steal(task*& t, worker& self) {
    self.meter(event::steal_attempt, owner_);
    const steal_result outcome = entries_.steal(t);
    if (outcome == steal_result::got) self.meter(event::steal, owner_);
    return outcome;
  }

  /// How many tasks a thief should take at once.
  theft_size thefts() const noexcept { return thefts_.load(relaxed); }
  std::int64_t size() const noexcept { return entries_.size(); }
  std::int64_t bottom() const noexcept { return entries_.bottom(); }

 private:
  // A call in the middle of push() would make all pushes save registers.
  [[gnu::noinline, gnu::cold]] void push_after_making_room(task& t, worker& self) {
    if (self.dead.too_many()) clean_up(self);
    if (!entries_.has_room()) entries_.make_room();
    push(t, self);
  }
  void clean_up(worker& self) {
    std::vector<task*> kept;
    for (std::size_t n = drop_dead(
             entries_, self.dead, [&](task& t) { return self.drop_if_dead(t); }, kept);
         n > 0; --n)
      self.ring(audience_);
  }

  typename World::template deque<task> entries_;
  worker_id owner_;
  typename World::template shared<theft_size> thefts_{theft_size()};  // the owner's value at its last push
  worker_set audience_;
};

}  // namespace kith
