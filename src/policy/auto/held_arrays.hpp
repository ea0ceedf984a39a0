// Tasks that initialise data and are held back, and the arrays that they fill. One source for both worlds.
//
// Not in the papers. All held tasks can be taken, or a part of an array of small blocks as soon as it is complete.
#pragma once

#include "base/atomic.hpp"
#include "policy/auto/filled_memory.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace kith {

/// Any worker may call anything; looks take no lock. No worker is woken.
template <class World>
class held_arrays {
 public:
  struct held_task {
    task* it;
    std::size_t array;       // its number, while arrays grow
    std::int64_t parts = 0;  // how many parts of its array were taken before it was
  };
  struct added {
    bool first;                   // no other task was held
    std::vector<held_task> part;  // the tasks of the array's next part if it is complete, in the order of add()
  };

  /// Holds a task that fills this block, which is `small` or not. If `part` tasks of its array are held, they are a
  /// complete part, unless a block of the array was not small. Throws std::bad_alloc if the task could not be held;
  /// without memory for a part, it is complete with a later task.
  added add(task& t, const filled_memory::block& fills, bool small, std::int64_t part) {
    const std::lock_guard lock(guard_);
    const std::size_t of = array_of(t.type, fills);
    tasks_.push_back({&t, of});
    growing_array& a = arrays_[of];
    ++a.held;
    a.small = a.small && small;
    ever_.store(ever_.load(relaxed) + 1, relaxed);
    added result{tasks_.size() == 1, {}};
    if (a.small && a.held >= part) result.part = take_part(of);
    publish();
    return result;
  }
  /// In the order of add(), unless tasks were put back. Arrays end here: the next block of any begins another one.
  [[nodiscard]] std::vector<held_task> take_all() {
    const std::lock_guard lock(guard_);
    for (held_task& t : tasks_) t.parts = t.array == no_array ? 0 : arrays_[t.array].parts;
    arrays_.clear();
    latest_.clear();
    std::vector<held_task> all = std::exchange(tasks_, {});
    publish();
    return all;
  }
  /// Holds again tasks that were taken; they belong to no array that grows. Allocates only if other tasks were added
  /// since; ends the process if there is no memory.
  void put_back(std::vector<held_task> taken) noexcept {
    const std::lock_guard lock(guard_);
    for (held_task& t : taken) t.array = no_array;
    if (tasks_.capacity() - tasks_.size() >= taken.size()) {
      tasks_.insert(tasks_.begin(), taken.begin(), taken.end());
    } else {
      taken.insert(taken.end(), tasks_.begin(), tasks_.end());
      tasks_.swap(taken);
    }
    publish();
  }
  /// Whether tasks are held, or an array may go on: take_all() ends it.
  bool open() const noexcept { return open_.load(relaxed); }
  bool empty() const noexcept { return count_.load(relaxed) == 0; }
  /// How many were ever added.
  std::uint64_t ever() const noexcept { return ever_.load(relaxed); }

 private:
  static constexpr std::size_t no_array = std::numeric_limits<std::size_t>::max();

  struct growing_array {
    std::uint16_t type;
    filled_memory memory;
    std::int64_t held = 0, parts = 0;  // tasks that are held; parts that were taken
    bool small = true;                 // so are all blocks so far
  };

  /// The array that tasks of this type fill now, or a new one.
  std::size_t array_of(std::uint16_t type, const filled_memory::block& fills) {
    const auto known = std::ranges::find_if(latest_, [&](std::size_t i) { return arrays_[i].type == type; });
    if (known != latest_.end() && arrays_[*known].memory.continues_with(fills)) {
      arrays_[*known].memory.add(fills);
      return *known;
    }
    arrays_.push_back({type, filled_memory(fills)});
    const std::size_t last = arrays_.size() - 1;
    if (known != latest_.end()) {
      *known = last;
    } else {
      latest_.push_back(last);
    }
    return last;
  }
  std::vector<held_task> take_part(std::size_t array) noexcept {
    growing_array& a = arrays_[array];
    std::vector<held_task> part;
    try {
      part.reserve(static_cast<std::size_t>(a.held));
    } catch (const std::bad_alloc&) {
      return {};
    }
    std::erase_if(tasks_, [&](const held_task& t) {
      if (t.array == array) part.push_back({t.it, array, a.parts});
      return t.array == array;
    });
    a.held = 0;
    ++a.parts;
    return part;
  }

  void publish() noexcept {
    count_.store(tasks_.size(), relaxed);
    open_.store(!tasks_.empty() || !arrays_.empty(), relaxed);
  }

  typename World::mutex guard_;
  std::vector<held_task> tasks_;
  std::vector<growing_array> arrays_;
  std::vector<std::size_t> latest_;  // of each type, the array that its tasks fill now
  // Written under the lock, as are the next two: how many are held.
  typename World::template shared<std::size_t> count_{0};
  typename World::template shared<bool> open_{false};
  typename World::template shared<std::uint64_t> ever_{0};
};

}  // namespace kith
