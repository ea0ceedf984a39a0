// Whether a recording can be relied on.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>

namespace kith {

/// Memory nodes of a recorded machine, at most.
inline constexpr std::int64_t most_recorded_nodes = 1024;

/// Every reference in range, every size one that a process can have, every time one that a run can last to, and the flags
/// of tasks such as go together: what readers index and size with, and what a replay takes for given. Throws kith::error
/// that names `file`, the table, the row, the column, and what was expected. Costs O(rows).
void check_recording(const recording& r, const std::string& file);

}  // namespace kith
