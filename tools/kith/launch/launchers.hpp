// The MPIs of this machine: their launchers, and whether Kith has a transport for them.
#pragma once

#include "places/job.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kith::tools {

struct mpi_launcher {
  distributed::mpi_kind kind;
  std::optional<std::filesystem::path> plugin;  // none: Kith was built without it
  std::string mpirun;                           // its path; empty: there is none
  std::string version;                          // the line with its version

  bool usable() const noexcept { return plugin && !mpirun.empty(); }
};

/// All kinds that Kith knows, in the order in which they are preferred. Runs each mpirun with --version.
std::vector<mpi_launcher> mpi_launchers();

/// The parts that are missing, and how to get them; empty if it is usable.
std::string what_is_missing(const mpi_launcher& l);

/// The words that start `places` processes of the command after them, on this machine.
std::vector<std::string> launch_words(const mpi_launcher& l, int places);

}  // namespace kith::tools
