// This process's rank among those of an MPI program on this machine, from the variables that launchers set.
#pragma once

#include "machine/limits.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kith {

/// None if no launcher has set it. Invalid numbers give a note.
std::optional<local_rank> read_local_rank(const variables&, std::vector<std::string>& notes);

}  // namespace kith
