// The CPUs that Slurm allots to this task, from its environment variables. For limits.cpp.
#pragma once

#include "machine/limits.hpp"

namespace kith {

struct slurm_allotment {
  int cpus = 0;
  std::string from;
};

std::optional<slurm_allotment> read_slurm(const variables&, std::vector<std::string>& notes);

/// How many tasks of the step run on this node; none if not under srun, or if the list is invalid.
std::optional<int> slurm_tasks_here(const variables&);

}  // namespace kith
