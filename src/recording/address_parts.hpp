// Reads what the recorder of addresses has written to a folder of parts. For assemble.cpp.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace kith {

/// Adds sites, blocks and streams to `r` if the folder has them. `tasks`: the number of each task by its name in the
/// logs. Throws kith::error if the files are damaged. Prints a line if the run was cut off before the tables were
/// written: without them the streams cannot be interpreted.
void add_address_parts(recording& r, const std::string& folder,
                       const std::unordered_map<std::uint64_t, std::int32_t>& tasks);

}  // namespace kith
