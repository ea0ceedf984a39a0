// The order in which data is dealt to nodes.
//
// In each round every node has one turn, in an order that is drawn at random for this round. If all rounds went through
// the nodes in the same order, and a row of blocks took a whole number of rounds, each column would be on one node,
// whose memory and links would serve all readers of that column. If rows took a little more or less, a block and its
// mirror image across the diagonal would hardly ever be on one node, and few pairs of nodes would exchange all that a
// transposition moves. Two nodes keep their order: in half of all rounds, the node that ended the last one would go on.
//
// Only nodes of one machine change places: between machines, the traffic between a block and the one below it costs
// more than an uneven load. Constant once constructed.
#pragma once

#include "base/rng.hpp"
#include "policy/contract/team.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

class dealing_order {
 public:
  /// Deals to the nodes that have workers. O(61 nodes).
  explicit dealing_order(const team& workers) {
    rng random(1, purpose::placement, 0);
    for (std::uint32_t round = 0; round < rounds; ++round) {
      for (std::vector<node_id> machine : workers.machines()) {
        if (machine.size() > 2) shuffle(machine, random);
        turns_.insert(turns_.end(), machine.begin(), machine.end());
      }
    }
  }

  node_id operator()(std::uint32_t number) const noexcept { return turns_[number % turns_.size()]; }

 private:
  static constexpr std::uint32_t rounds = 61;  // then they are repeated; a prime, so that rows of any length meet all

  /// std::shuffle() may draw otherwise in another standard library.
  static void shuffle(std::vector<node_id>& nodes, rng& random) {
    for (auto left = static_cast<std::uint32_t>(nodes.size()); left > 1; --left)
      std::swap(nodes[left - 1], nodes[random.below(left)]);
  }

  std::vector<node_id> turns_;
};

}  // namespace kith
