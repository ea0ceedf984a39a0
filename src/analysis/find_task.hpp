// Finds tasks by the names that users give them: a number, a type with an index, or a key.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>

namespace kith::analysis {

/// "17" is the task's number in the recording. "gemm:12" is an index, from 0, into the tasks of type gemm in the
/// order of creation; "gemm" will do if there is only one. "key:42" is the node of a graph whose key has this
/// hash (integers are their own hash; the hash is decimal or 0x...). Throws kith::error that lists what there is.
std::int32_t find_task(const recording&, const std::string& name);

}  // namespace kith::analysis
