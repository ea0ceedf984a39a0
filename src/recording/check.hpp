// Whether a recording can be relied on.
#pragma once

#include "recording/recording.hpp"

#include <string>

namespace kith {

/// Every reference in range, every size one that a process can have, and no time that runs backwards: what readers index
/// and size with. Throws kith::error that names `file`, the row, and what was expected. Costs O(rows).
void check_recording(const recording& r, const std::string& file);

}  // namespace kith
