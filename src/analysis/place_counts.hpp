// What each place of a recording did, and what it sent. For `kith placement`.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kith::analysis {

struct place_count {
  std::string host;
  std::uint32_t workers = 0;
  std::vector<std::int32_t> nodes = {};  // of its workers
  std::uint64_t tasks = 0;               // the number that ran there, without roots and fences
  std::uint64_t came = 0;                // of these, the number spawned at other places
  std::uint64_t work_ns = 0;
  std::uint64_t messages = 0, bytes = 0;  // sent from there
  std::uint64_t travelled_ns = 0;         // the most that one of the faster half took; 0: not known
  std::uint64_t error_ns = 0;             // the error of its clock
};

/// By place; empty if there are none. Cost: O(tasks and messages).
std::vector<place_count> counts_of_places(const recording&);

}  // namespace kith::analysis
