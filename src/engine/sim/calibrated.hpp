// Splits the times of calibrated tasks into computing and memory.
#pragma once

#include "engine/sim/program.hpp"

namespace kith::sim {

/// Gives tasks of calibrated kinds their exposure. Their computing is their recorded time minus the time for their
/// data. The latter is modelled: the tasks run in their recorded order, on one core with the caches of the recorded
/// machine. So a simulation of exactly that run gives the recorded times again, and time that no model explains stays
/// with the task. The hot time of the task's kind, for as many bytes, always counts as computing. Does nothing if no
/// task is calibrated. Throws kith::error for a recording whose rates are missing or make no sense.
void split_calibrated_times(program&);

}  // namespace kith::sim
