// When each task of a recording was completed: its body and all its children had ended. For whoever makes recordings.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <vector>

namespace kith {

/// By task: whose child it is, that is, who created the first task of its scope; it stands before the child. -1: roots, fences,
/// what came from outside, and what was cancelled in a scope that was waited for: it may end when nobody waits any more.
std::vector<std::int32_t> parents_of(const recording&);

/// Sets `completed` of every task to what is there already (when the engine saw it end), its own end, or the last
/// child's `completed`: the latest of these. 0 where it is not known to have ended, or a child is not and nobody saw the
/// task end. Fences are left to set_ready_times(). Cost: O(tasks).
void set_completed_times(recording&);

}  // namespace kith
