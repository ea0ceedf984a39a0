// A worker's own deque with priorities: the owner and thieves take from the highest level that has a task.
//
// It has a deque for each level. Only the normal one is used until a task with another priority is pushed.
#pragma once

#include "queue/own_deque.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory_resource>

namespace kith {

template <class World>
class leveled_deque {
 public:
  using allocator_type = std::pmr::polymorphic_allocator<>;
  using worker = typename World::worker;

  /// An own_deque for each level, with these arguments.
  leveled_deque(worker_id owner, const worker_set& audience, allocator_type memory = std::pmr::new_delete_resource())
      : levels_{own_deque<World>(owner, audience, memory), own_deque<World>(owner, audience, memory),
                own_deque<World>(owner, audience, memory)} {}

  // ---- the owner
  [[gnu::always_inline]] void push(task& t, worker& self) {
    if (!t.has_level()) [[likely]] {
      normal().push(t, self);
    } else {
      push_at_level(t, self);
    }
  }
  [[nodiscard, gnu::always_inline]] task* pop(worker& self) {
    if (!has_levels()) [[likely]]
      return normal().pop(self);
    return pop_highest(self);
  }
  /// As pop(). REQUIRES: !has_levels().
  [[nodiscard, gnu::always_inline]] task* pop_normal(worker& self) { return normal().pop(self); }
  /// Takes the owner's oldest task; false if there was none, or a thief was faster.
  [[nodiscard]] bool take_oldest(task*& t, worker& self) {
    if (!has_levels()) [[likely]]
      return normal().take_oldest(t, self);
    return std::ranges::any_of(levels_, [&](own_deque<World>& level) { return level.take_oldest(t, self); });
  }
  /// Chooses what to run next: `t`, or a task of a higher level; `t` is then queued.
  [[nodiscard]] task* prefer(task& t, worker& self) {
    if (!has_levels() && !t.has_level()) [[likely]]
      return &t;
    return prefer_highest(t, self);
  }
  /// The level of the task that leaves next; `no_level` if there is none. Any thread.
  int highest() const noexcept {
    if (!has_levels()) return normal().size() > 0 ? task::normal_level : no_level;
    for (int level = 0; level < no_level; ++level) {
      if (levels_[static_cast<std::size_t>(level)].size() > 0) return level;
    }
    return no_level;
  }
  static constexpr int no_level = task::levels;
  /// Whether a task of a level other than normal was pushed.
  bool has_levels() const noexcept { return has_levels_.load(relaxed); }

  // ---- thieves
  steal_result steal(task*& t, worker& self) {
    const int level = highest();
    return levels_[static_cast<std::size_t>(level == no_level ? task::normal_level : level)].steal(t, self);
  }

  /// As in own_deque; the largest of all levels.
  theft_size thefts() const noexcept {
    if (!has_levels()) [[likely]]
      return normal().thefts();
    return std::max({levels_[0].thefts(), levels_[1].thefts(), levels_[2].thefts()});
  }
  std::int64_t size() const noexcept {
    return sum([](const own_deque<World>& level) { return level.size(); });
  }
  std::int64_t bottom() const noexcept {
    return sum([](const own_deque<World>& level) { return level.bottom(); });
  }

 private:
  // Out of line, to keep the code for programs without priorities small.
  [[gnu::noinline, gnu::cold]] void push_at_level(task& t, worker& self) {
    if (!has_levels()) has_levels_.store(true, relaxed);  // before the task can be seen
    levels_[static_cast<std::size_t>(t.level())].push(t, self);
  }
  [[gnu::noinline, gnu::cold]] task* pop_highest(worker& self) {
    task* t = nullptr;
    std::ranges::any_of(levels_, [&](own_deque<World>& level) { return (t = level.pop(self)) != nullptr; });
    return t;
  }
  [[gnu::noinline, gnu::cold]] task* prefer_highest(task& t, worker& self) {
    if (highest() >= t.level()) return &t;
    push(t, self);
    return pop_highest(self);
  }

  own_deque<World>& normal() noexcept { return levels_[task::normal_level]; }
  const own_deque<World>& normal() const noexcept { return levels_[task::normal_level]; }
  template <class ValueOf>
  std::int64_t sum(const ValueOf& value_of) const noexcept {
    if (!has_levels()) [[likely]]
      return value_of(normal());
    return value_of(levels_[0]) + value_of(levels_[1]) + value_of(levels_[2]);
  }

  std::array<own_deque<World>, task::levels> levels_;
  typename World::template shared<bool> has_levels_{false};
};

}  // namespace kith
