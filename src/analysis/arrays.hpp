// Regions that are blocks of one array: equal in size, at equal distances. For pictures of a program's data.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <vector>

namespace kith::analysis {

struct block_array {
  std::vector<std::uint32_t> regions;  // by address
  std::uint64_t block_bytes = 0;       // of each; 0: they differ
  std::uint64_t bytes = 0;             // of all
  std::uint64_t written = 0;           // declared by tasks that write them
};

/// The arrays of a recording: the one with the most bytes first, then the one written most, then by address. If
/// none has half of the bytes, an array of all regions in the order of their addresses comes first. Cost:
/// O(accesses + n log n).
std::vector<block_array> arrays_of(const recording&);

/// By region: its index in the array; -1 if it is not in the array.
std::vector<std::int32_t> indices_in(const recording&, const block_array&);

}  // namespace kith::analysis
