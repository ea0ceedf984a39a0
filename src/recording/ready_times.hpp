// When each task of a recording became ready: follows from the other times. For whoever makes recordings.
#pragma once

#include "recording/recording.hpp"

namespace kith {

/// Sets `ready` of every task: its creation (or exploration) and its last predecessor had ended. Fences start and end then.
void set_ready_times(recording&);

}  // namespace kith
