// When each task of a recording became ready, computed from the other times. For code that makes recordings.
#pragma once

#include "recording/recording.hpp"

namespace kith {

/// Sets `ready` of every task: the time at which its creation (or exploration) had ended and its last
/// predecessor was completed. set_completed_times() (completed_times.hpp) must be called first. Fences start
/// and end at that time.
void set_ready_times(recording&);

}  // namespace kith
