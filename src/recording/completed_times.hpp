// When each task of a recording was completed, that is, its body and all its children had ended. For code that
// makes recordings.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <vector>

namespace kith {

/// By task: its parent, which is the task that created the first task of its scope. The parent comes before the child.
/// -1 for roots, fences, tasks from outside, and tasks cancelled in a scope that was waited for: these may end after
/// the wait.
std::vector<std::int32_t> parents_of(const recording&);

/// Sets `completed` of every task to the latest of these: the value already there (if the engine noted the end),
/// the end of its body, and the last `completed` of its children. It is 0 if the task is not known to have ended,
/// or if a child is not and the task's end was not noted. Fences are left to set_ready_times(). Cost: O(tasks).
void set_completed_times(recording&);

}  // namespace kith
