// When tasks ran and how long they computed, from the logs of a run. For assemble.cpp.
#pragma once

#include "recording/gather.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kith {

/// The tasks of a recording by their names in the logs.
struct task_numbers {
  std::unordered_map<std::uint64_t, std::int32_t> tasks;    // by reference
  std::unordered_map<std::uint64_t, std::uint32_t> scopes;  // by reference
  std::vector<double> work;                                 // by task: its declared cost; negative: none

  /// The task with that reference; -1: the logs do not have it, or the reference is 0.
  std::int32_t task(std::uint64_t ref) const {
    const auto at = tasks.find(ref);
    return ref == 0 || at == tasks.end() ? -1 : at->second;
  }
};

/// Sets the times of the tasks in `logs.out`, and adds their waits. Sorts the runs by seat and start.
/// REQUIRES: `logs.out` has all tasks.
void set_measured_times(gathered_logs& logs, const task_numbers&);

}  // namespace kith
