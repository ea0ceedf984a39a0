// What a worker and its node did between two moments of a recorded run, that is, what a ready task waited for.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <vector>

namespace kith::analysis {

struct timeline_entry {
  enum kind : std::uint8_t { task, exploration, idle, job };
  kind what = task;
  std::int32_t number = -1;  // the task's
  std::uint64_t begun = 0, ended = 0;
};

struct meanwhile {
  std::uint64_t from = 0, until = 0;
  std::vector<timeline_entry> worker = {};        // those that overlap the interval, by begin; tasks may lie on top
                                                  // of each other
  std::uint64_t busy = 0, idle = 0, jobs = 0;     // nanoseconds of the worker; it spent the rest on scheduling
  int node_workers = 0;                           // workers of the node, including the worker itself
  std::uint64_t node_busy = 0, node_idle = 0;     // nanoseconds, over its workers
  std::size_t started = 0;                        // tasks that began on the node
  std::size_t ready_before = 0, ready_after = 0;  // of these: ready before `from`, and later
};

/// For a worker between two times, and for the workers of its node. Cost: O(tasks).
meanwhile while_waiting(const recording&, std::int32_t worker, std::uint64_t from, std::uint64_t until);

}  // namespace kith::analysis
