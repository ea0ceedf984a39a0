// An MPI's library, as a program on places would load it. For `kith doctor`.
#pragma once

#include "places/job.hpp"

#include <string>

namespace kith::tools {

struct mpi_library {
  std::string version = {};  // the line with its version; empty: it cannot be loaded
  std::string error = {};    // why it, or Kith's transport, cannot be loaded
  bool has_ulfm = false;     // has the functions by which survivors of a loss continue (MPIX_Comm_revoke)
};

/// Loads Kith's transport for this MPI, or its library alone if there is none, in a child process, because a process
/// cannot load two MPIs. Cost: some milliseconds.
mpi_library probe_mpi_library(const distributed::mpi_kind& k);

}  // namespace kith::tools
