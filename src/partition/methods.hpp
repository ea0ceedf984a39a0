// The steps of parts_of(). Only files of this folder include it.
#pragma once

#include "partition/partition.hpp"

namespace kith::partition {

/// k-way graph growing; `start` selects where the first free part begins.
std::vector<std::int32_t> grow(const request&, std::int32_t start);
/// Moves free vertices while that lowers the cost, or brings an overloaded part below its limit.
void refine(const request&, std::span<const std::int64_t> limits, std::vector<std::int32_t>& parts);
/// Exchanges whole parts of equal capacity without fixed vertices, while that lowers the cost.
void exchange_parts(const request&, std::vector<std::int32_t>& parts);
/// SCOTCH's mapping. Throws kith::error if it fails. REQUIRES: have_scotch(); no target has capacity 0.
std::vector<std::int32_t> map_by_scotch(const request&);

}  // namespace kith::partition
