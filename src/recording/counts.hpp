// The rows of counted events: at most one for each task, sorted by task.
#pragma once

#include "recording/recording.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith {

/// Adds the rows of a part. `tasks`: the part's task numbers in the recording.
inline void add_counts(std::vector<recorded_counts>& to, const std::vector<recorded_counts>& of_part,
                       const std::vector<std::int32_t>& tasks) {
  for (recorded_counts c : of_part) {
    c.task = tasks[static_cast<std::size_t>(c.task)];
    to.push_back(c);
  }
}

/// Sorts the rows by task. Keeps one of several rows of a task, which only damaged logs have.
inline void sort_counts(std::vector<recorded_counts>& rows) {
  std::ranges::sort(rows, {}, &recorded_counts::task);
  const auto twice = std::ranges::unique(rows, {}, &recorded_counts::task);
  rows.erase(twice.begin(), twice.end());
}

/// The sum of the instructions of all tasks for which they were counted.
inline std::uint64_t instructions_of(const std::vector<recorded_counts>& rows) {
  std::uint64_t sum = 0;
  for (const recorded_counts& c : rows) {
    if (const std::int64_t n = c[counter::instructions]; n > 0) sum += static_cast<std::uint64_t>(n);
  }
  return sum;
}

}  // namespace kith
