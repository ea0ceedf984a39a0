// How much of new data a node gets: nearly an equal share, and a little more if it has more workers than others.
//
// Where tasks are bound by memory, the nodes' memories, which mostly are equal, have to be used equally. Where they are
// bound by computing, work should go by workers; but such tasks lose little away from their data, so that idle workers
// soon take them. Shares go by the sixth root of the number of workers. If all nodes have equally many, all get the
// same.
#pragma once

#include "policy/contract/team.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace kith {

/// Constant once constructed.
class node_shares {
 public:
  explicit node_shares(const team& workers) : weights_(static_cast<std::size_t>(workers.nodes())) {
    const double nodes = static_cast<double>(workers.inhabited().size());
    for (node_id n : workers.inhabited()) {
      weights_[n.index()] = std::cbrt(std::sqrt(workers.working_at(n) * nodes / workers.size()));
      sum_ += weights_[n.index()];
    }
  }
  /// The weight of a node with workers; 1 if all have equally many.
  double weight(node_id n) const noexcept { return weights_[n.index()]; }
  double sum() const noexcept { return sum_; }

 private:
  std::vector<double> weights_;
  double sum_ = 0;
};

}  // namespace kith
