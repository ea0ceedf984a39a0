// Checks whether a recording can be relied on.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>

namespace kith {

/// What to do about a damaged recording, for errors.
inline constexpr const char* next_step_if_damaged = "; record it again, or copy it whole";

/// The most memory nodes that a recorded machine may have.
inline constexpr std::int64_t most_recorded_nodes = 1024;

/// Checks the values that readers use as indices and sizes and that a replay relies on: every reference is in
/// range, every size is one that a process can have, every time is one that a run can reach, and each task's flags
/// are consistent. Throws kith::error that names `file`, the table, the row, the column, and what was expected.
/// Costs O(rows).
void check_recording(const recording& r, const std::string& file);

}  // namespace kith
