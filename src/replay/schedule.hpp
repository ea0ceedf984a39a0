// The decisions of a recorded run: which worker ran which task, and in what order. This is enough to repeat them.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith {

struct recorded_schedule {
  struct step {
    std::uint64_t identity = 0;  // base/identity.hpp
    bool explores = false;       // the first phase of a keyed node
    std::int32_t task = -1;      // its index in the recording
    std::uint64_t started = 0;
    // The task inside which it began: of the tasks that the worker had begun and not ended, the last one, which was
    // waiting. First its identity, or that of the root; then its position in the same list, -1 if it has none.
    std::uint64_t inside = 0;
    std::int64_t inside_at = -1;
    // How many tasks, other than nodes of graphs, `inside` had created by then, and how many waits it had
    // begun. Both are lower bounds: what is uncertain is not counted.
    std::uint64_t created_before = 0, waits_before = 0;
  };
  std::vector<std::vector<step>> of_worker;  // in the order in which they began
  // Pairs of tasks: one that had a turn at a region with commutative access, and the one that had the next turn.
  std::vector<std::pair<std::int32_t, std::int32_t>> turns;
  std::vector<std::string> type;  // of each task of the recording
  bool outside = false;           // some tasks were created by threads that are no workers, in no fixed order
};

/// The identity of each task of a recording; 0 for fences.
std::vector<std::uint64_t> identities_of(const recording&);

/// Throws kith::error if a task was not run, or if two tasks have the same identity.
recorded_schedule schedule_of(const recording&);
/// The schedule of the recording in a file. Throws kith::error also if no file is named or the file cannot be read.
recorded_schedule schedule_in(const std::string& file);

}  // namespace kith
