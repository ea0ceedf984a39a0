// The machines of a job's places as one machine of a recording. For merge.cpp.
#pragma once

#include "recording/place_part.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

/// Makes one machine of several: the nodes of each host, one after the other. Sets the nodes of places and workers, and
/// the machine's part of `meta`. Returns the first node of each part. REQUIRES: `out` has the places with their
/// workers. Throws kith::error for more than 1024 nodes in all.
std::vector<std::int16_t> merge_machines(std::span<const place_part>, recording& out);

}  // namespace kith
