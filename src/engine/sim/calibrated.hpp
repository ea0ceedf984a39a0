// Computing and memory of calibrated tasks.
#pragma once

#include "engine/sim/program.hpp"

namespace kith::sim {

/// Gives tasks of calibrated kinds their exposure, and for computing what is left of their recorded time without what
/// their data took. The latter is modelled: the tasks in the order in which they ran, on one core with the caches of the
/// machine that they were recorded on. So a simulation of just that run gives the recorded times again, and what no
/// model explains stays with the task; what its kind took hot, for as many bytes, is computing in any case. Does nothing if none is calibrated. Throws kith::error for a recording whose
/// rates are missing or make no sense.
void split_calibrated_times(program&);

}  // namespace kith::sim
