// Whose turn it is, when data is dealt to nodes in turn.
//
// In each round every node has its turn once. Rounds begin a golden section of the nodes apart (multiplicative hashing, Knuth,
// The Art of Computer Programming, 6.4): where a row of blocks is some rounds long, a column of them would be on one node
// otherwise, whose memory and links serve everybody when all read that column. Only nodes of one machine change places: what
// a block and the one below it exchange is dearer between machines than an uneven load. Constant once constructed.
#pragma once

#include "policy/team.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

class dealing_order {
 public:
  /// The largest distance within a machine: firmware says 255 of what it cannot reach (ACPI specification, SLIT).
  static constexpr int farthest = 254;

  /// Of the nodes that have workers.
  explicit dealing_order(const team& workers) {
    std::vector<node_id> left = workers.inhabited();
    while (!left.empty()) {
      std::vector<node_id> machine, others;
      for (node_id n : left) (workers.distance(left.front(), n) <= farthest ? machine : others).push_back(n);
      const auto first = static_cast<std::uint32_t>(seats_.size());
      for (node_id n : machine) seats_.push_back({n, first, static_cast<std::uint32_t>(machine.size())});
      left = std::move(others);
    }
  }

  node_id operator()(std::uint32_t turn) const noexcept {
    const auto all = static_cast<std::uint32_t>(seats_.size());
    const std::uint32_t at = turn % all;
    const std::uint32_t section = turn / all * 0x9E3779B9U;  // of 2^32
    const seat& s = seats_[at];
    const auto ahead = static_cast<std::uint32_t>(std::uint64_t{section} * s.size >> 32);
    return seats_[s.first + (at - s.first + ahead) % s.size].node;
  }

 private:
  struct seat {
    node_id node;
    std::uint32_t first, size;  // the seats of its machine
  };
  std::vector<seat> seats_;
};

}  // namespace kith
