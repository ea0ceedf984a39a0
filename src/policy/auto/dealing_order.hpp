// The order in which data is dealt to nodes.
//
// In each round every node has one turn. If a row of blocks took a whole number of rounds, and all rounds began
// at the same node, each column would be on one node, whose memory and links would serve all readers of that
// column. So, with P nodes, a round begins at one of about sqrt(P) nodes, each time a golden section further
// (multiplicative hashing; Knuth, The Art of Computer Programming, 6.4). A column is then on sqrt(P) nodes, or on up to
// twice as many where rounds go backwards. A node has blocks of few columns, so that what it reads with them stays in
// its cache.
//
// If one or two rows take a little less than a whole number of rounds, all rows go through the nodes in the same
// sequence, each a little earlier. With four nodes, a block and its mirror image across the diagonal are then hardly
// ever on one node; with six, few pairs of nodes exchange most of what a transposition moves. So every second round of
// four to eight nodes goes backwards. With fewer nodes, such a round would often begin at the node where the last one
// ended, and two runs would become one. With more, a column would be on too many nodes: matmul on 16 takes 28 % longer.
//
// Only nodes of one machine change places: between machines, the traffic between a block and the one below it costs
// more than an uneven load. Constant once constructed.
#pragma once

#include "policy/contract/team.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace kith {

class dealing_order {
 public:
  /// Deals to the nodes that have workers.
  explicit dealing_order(const team& workers) {
    for (const std::vector<node_id>& machine : workers.machines()) {
      const auto first = static_cast<std::uint32_t>(turns_.size()), size = static_cast<std::uint32_t>(machine.size());
      const auto starts = static_cast<std::uint32_t>(std::lround(std::sqrt(static_cast<double>(size))));
      for (node_id n : machine) turns_.push_back({n, first, size, starts});
    }
  }

  node_id operator()(std::uint32_t number) const noexcept {
    const auto all = static_cast<std::uint32_t>(turns_.size());
    const std::uint32_t at = number % all, round = number / all;
    const std::uint32_t section = round * 0x9E3779B9U;  // as a fraction of 2^32
    const turn& s = turns_[at];
    const auto ahead = static_cast<std::uint32_t>(std::uint64_t{section} * s.starts >> 32) * s.size / s.starts;
    const bool backwards = round % 2 == 1 && s.size >= least_backwards && s.size <= most_backwards;
    const std::uint32_t place = backwards ? s.first + s.size - 1 - at : at - s.first;
    return turns_[s.first + (place + ahead) % s.size].node;
  }

 private:
  static constexpr std::uint32_t least_backwards = 4, most_backwards = 8;  // nodes of a machine

  struct turn {
    node_id node;
    std::uint32_t first, size, starts;  // its machine's turns, and the number of them at which rounds begin
  };
  std::vector<turn> turns_;
};

}  // namespace kith
