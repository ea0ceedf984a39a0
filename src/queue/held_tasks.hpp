// Ready tasks that a policy holds back until it takes all of them. One source for both worlds.
#pragma once

#include "base/atomic.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace kith {

/// Any worker may call anything; looks take no lock. No worker is woken.
template <class World>
class held_tasks {
 public:
  /// Returns how many are held.
  std::size_t add(task& t) {
    const std::lock_guard lock(guard_);
    tasks_.push_back(&t);
    count_.store(tasks_.size(), relaxed);
    ever_.store(ever_.load(relaxed) + 1, relaxed);
    return tasks_.size();
  }
  /// In the order of add().
  [[nodiscard]] std::vector<task*> take_all() {
    const std::lock_guard lock(guard_);
    count_.store(0, relaxed);
    return std::exchange(tasks_, {});
  }
  /// Holds again tasks that take_all() returned, before those that were added since. Allocates only if more tasks were
  /// added since than the vector has room for; ends the process if there is no memory.
  void put_back(std::vector<task*> taken) noexcept {
    const std::lock_guard lock(guard_);
    tasks_.swap(taken);
    tasks_.insert(tasks_.end(), taken.begin(), taken.end());
    count_.store(tasks_.size(), relaxed);
  }
  bool empty() const noexcept { return count_.load(relaxed) == 0; }
  /// How many were ever added.
  std::uint64_t ever() const noexcept { return ever_.load(relaxed); }

 private:
  typename World::mutex guard_;
  std::vector<task*> tasks_;
  typename World::template shared<std::size_t> count_{0};  // how many are held; written under the lock, as is ever_
  typename World::template shared<std::uint64_t> ever_{0};
};

}  // namespace kith
