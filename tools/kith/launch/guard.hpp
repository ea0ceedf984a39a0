// The guard of a place that `kith launch` has started: runs the place's program, and returns when all places have
// ended.
#pragma once

#include "launch/guard_folder.hpp"
#include "verbs.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// mpirun ends all processes of a job as soon as one has failed. Guards stay until all places have ended: then these
/// find the loss themselves and can write their recordings. Places that do not end are killed: by mpirun, and by their
/// guards, because MPICH's mpirun hangs if a process dies in MPI_Init.
outcome guard_place(const guard_folder& folder, const std::vector<std::string>& program);

}  // namespace kith::tools
