// The depth of each task in the program, which orders tasks that began at the same time.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <vector>

namespace kith {

/// The length, in steps, of the longest path to the exploration and to the beginning of each task. Steps are
/// - creations,
/// - dependences, from the end of the predecessor,
/// - waits: a task ends after the tasks that it waited for,
/// - from the end of a task to the beginning of the next one with the same creator, as if each task ran when it
///   was created; not for nodes of graphs,
/// - from the exploration of each node to the beginning of all others, where all are found first.
/// A point that must precede another has a lower level. Waits for a future are left out, because they do not name
/// their task.
struct task_levels {
  std::vector<std::uint32_t> exploration, beginning;  // by task; `exploration` is 0 except for keyed nodes
};

/// Costs O(tasks + dependences). In a damaged recording, a task that waits for itself has level 0.
task_levels levels_of(const recording&);

}  // namespace kith
