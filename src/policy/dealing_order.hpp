// Whose turn it is, when data is dealt to nodes in turn.
//
// In each round every node has its turn once. Where a row of blocks is some rounds long, a column of them would be on one node,
// whose memory and links serve everybody when all read that column. So of P nodes, rounds begin at one of about sqrt(P), a golden
// section on (multiplicative hashing, Knuth, The Art of Computer Programming, 6.4): a column is on sqrt(P) nodes, whatever the
// length of the rows, and a node has blocks of few columns, so that what it reads with them is in its cache. Only nodes of
// one machine change places: what a block and the one below it exchange is dearer between machines than an uneven load.
// Constant once constructed.
#pragma once

#include "policy/contract/team.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace kith {

class dealing_order {
 public:
  /// Of the nodes that have workers.
  explicit dealing_order(const team& workers) {
    for (const std::vector<node_id>& machine : workers.machines()) {
      const auto first = static_cast<std::uint32_t>(seats_.size()), size = static_cast<std::uint32_t>(machine.size());
      const auto starts = static_cast<std::uint32_t>(std::lround(std::sqrt(static_cast<double>(size))));
      for (node_id n : machine) seats_.push_back({n, first, size, starts});
    }
  }

  node_id operator()(std::uint32_t turn) const noexcept {
    const auto all = static_cast<std::uint32_t>(seats_.size());
    const std::uint32_t at = turn % all;
    const std::uint32_t section = turn / all * 0x9E3779B9U;  // of 2^32
    const seat& s = seats_[at];
    const auto ahead = static_cast<std::uint32_t>(std::uint64_t{section} * s.starts >> 32) * s.size / s.starts;
    return seats_[s.first + (at - s.first + ahead) % s.size].node;
  }

 private:
  struct seat {
    node_id node;
    std::uint32_t first, size, starts;  // of its machine: the seats, and at how many of them rounds begin
  };
  std::vector<seat> seats_;
};

}  // namespace kith
