// The CPUs that Slurm allots to this task, from the variables it sets. For limits.cpp.
#pragma once

#include "machine/limits.hpp"

namespace kith {

struct slurm_allotment {
  int cpus = 0;
  std::string from;
};

std::optional<slurm_allotment> read_slurm(const variables&, std::vector<std::string>& notes);

}  // namespace kith
