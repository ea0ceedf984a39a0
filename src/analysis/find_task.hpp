// Tasks as people name them: by number, by type and place among its kind, by key.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>

namespace kith::analysis {

/// "17": the number in the recording. "gemm:12": of the tasks of type gemm in the order of creation, from 0; "gemm" alone
/// where there is one. "key:42": the node of a graph whose key has this hash (whole numbers are their own; others decimal
/// or 0x...). Throws kith::error that says what there is.
std::int32_t find_task(const recording&, const std::string& name);

}  // namespace kith::analysis
