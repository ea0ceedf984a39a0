// Whether a recorded program made its tasks too small: the time of a type's tasks, against the runtime's time for each.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kith::analysis {

struct type_granularity {
  std::uint16_t type = 0;
  std::uint64_t tasks = 0;    // that ran
  double mean_ns = 0;         // of a task's own code
  double overhead_share = 0;  // of the time that its tasks take, the runtime's included: between 0 and 1
  std::uint64_t merge = 1;    // how many of them as one task bring the share down to a tenth; 1: it is below that
  bool matters = false;       // its tasks and their overhead are a twentieth of all workers' time, or more
};

struct granularity {
  std::uint64_t tasks = 0;              // that ran, of all types
  double overhead_ns = 0;               // of a task: creating it, its dependences, its queue, its end, and recording it
  double overhead_share = 0;            // of the time in which workers had something to do
  std::vector<type_granularity> types;  // by share of overhead, the largest first
};

/// The overhead is the workers' time during runs, less idle times, the policy's long work and the tasks' own code
/// (work_ns). It counts as the same for each task, because a recording does not say which task the runtime worked for.
/// Throws kith::error if the recording was dry, because its tasks have no times. O(tasks + idle times).
granularity granularity_of(const recording&);

}  // namespace kith::analysis
