// The CPUs that Slurm allots to this task, from the variables it sets. For limits.cpp.
#pragma once

#include "machine/limits.hpp"

namespace kith {

struct slurm_allotment {
  int cpus = 0;
  std::string from;
};

std::optional<slurm_allotment> read_slurm(const variables&, std::vector<std::string>& notes);

/// How many tasks of the step run on this node; none: not under srun, or the list makes no sense.
std::optional<int> slurm_tasks_here(const variables&);

}  // namespace kith
