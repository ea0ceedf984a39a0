// The order of turns at regions with commutative access, as recorded in a schedule.
//
// Any worker may call. A lock guards the order; only tasks that have such turns come here.
#pragma once

#include "task/task.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith {

template <class World>
class turn_order {
 public:
  /// `turns`: pairs of tasks, of which the second has the turn after the first.
  explicit turn_order(std::span<const std::pair<std::int32_t, std::int32_t>> turns) {
    for (const auto& [before, after] : turns) {
      entries_[before].next.push_back(after);
      ++entries_[after].waits_for;
    }
  }

  /// Called when the task (number `n` of the schedule) is ready but for its turn. True if it has its turn. Else the
  /// task is held until ended() returns it.
  bool has_come(std::int32_t n, task& t) {
    const auto at = entries_.find(n);
    if (at == entries_.end()) return true;
    std::lock_guard lock(guard_);
    if (open_ || at->second.waits_for == 0) return true;
    at->second.held = &t;
    return false;
  }

  /// Task `n` has ended. Returns the tasks that waited only for it, with their numbers.
  std::vector<std::pair<std::int32_t, task*>> ended(std::int32_t n) {
    std::vector<std::pair<std::int32_t, task*>> come;
    const auto at = entries_.find(n);
    if (at == entries_.end()) return come;
    std::lock_guard lock(guard_);
    for (std::int32_t next : at->second.next) {
      entry& e = entries_.find(next)->second;
      if (--e.waits_for == 0 && e.held != nullptr) come.emplace_back(next, std::exchange(e.held, nullptr));
    }
    return come;
  }

  bool holds_any() {
    std::lock_guard lock(guard_);
    return std::ranges::any_of(entries_, [](const auto& e) { return e.second.held != nullptr; });
  }
  bool concerns(std::int32_t n) const { return entries_.contains(n); }

  /// Ends the order: holds nothing from then on. Returns the held tasks.
  std::vector<std::pair<std::int32_t, task*>> open() {
    std::vector<std::pair<std::int32_t, task*>> all;
    std::lock_guard lock(guard_);
    open_ = true;
    for (auto& [n, e] : entries_) {
      if (e.held != nullptr) all.emplace_back(n, std::exchange(e.held, nullptr));
    }
    return all;
  }

 private:
  struct entry {
    std::vector<std::int32_t> next;
    std::uint32_t waits_for = 0;
    task* held = nullptr;
  };
  typename World::mutex guard_;
  std::unordered_map<std::int32_t, entry> entries_;  // the map itself does not change
  bool open_ = false;
};

}  // namespace kith
