// Which of the processes of an MPI program on this machine this one is, from the variables that launchers set.
#pragma once

#include "machine/limits.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kith {

/// None: not started by a launcher that says so. Numbers that make no sense are a note.
std::optional<local_rank> read_local_rank(const variables&, std::vector<std::string>& notes);

}  // namespace kith
