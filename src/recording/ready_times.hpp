// When each task of a recording became ready: follows from the other times. For whoever makes recordings.
#pragma once

#include "recording/recording.hpp"

namespace kith {

/// Sets `ready` of every task: its creation (or exploration) had ended, and its last predecessor was completed
/// (completed_times.hpp comes first). Fences start and end then.
void set_ready_times(recording&);

}  // namespace kith
