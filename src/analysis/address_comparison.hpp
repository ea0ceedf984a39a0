// Whether the tasks of two runs of one program touched the same addresses. For `kith record --addresses`.
//
// Tasks are the same if their identities are, blocks if the same task made them at the same place with the same
// ordinal, or if they are the same variable. Stacks, thread-local data, Kith's own memory and memory of no known block
// have no such names, and are not compared. The order of touches and their number are not compared either.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kith::analysis {

struct address_difference {
  std::int32_t task = -1;  // in the first recording; -1: it has none
  std::string what;        // a sentence
};

/// At most `most` differences, in the order of the first recording's tasks. Both recordings must have addresses.
/// Throws kith::error if a stream is damaged. Costs O(touches).
std::vector<address_difference> compare_addresses(const recording& one, const recording& other, std::size_t most);

}  // namespace kith::analysis
