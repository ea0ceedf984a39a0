// The workers and where they are: what policies see of the machine.
#pragma once

#include "base/worker_set.hpp"
#include "machine/machine.hpp"

#include <span>
#include <vector>

namespace kith {

/// The order in which a thief visits the others.
enum class victim_order : std::uint8_t {
  cyclic,   // the next worker first, wrapping
  random,   // drawn anew for each attempt
  nearest,  // by distance of the nodes; cyclic among equals
};

class team {
 public:
  /// `node_of[w]`: the node of worker w.
  team(const machine& on, std::vector<node_id> node_of);

  int size() const noexcept { return static_cast<int>(node_of_.size()); }
  int nodes() const noexcept { return static_cast<int>(at_node_.size()); }
  node_id node_of(worker_id w) const noexcept { return node_of_[w.index()]; }
  /// How many workers are on the node.
  int working_at(node_id n) const noexcept { return static_cast<int>(at_node_[n.index()].size()); }
  /// The workers that serve a node: its own, or, if it has none, those of the nearest node that has. Never empty.
  const worker_set& serving(node_id n) const noexcept { return serving_[n.index()]; }
  /// The node whose workers serve `n`.
  node_id served_by(node_id n) const noexcept { return served_by_[n.index()]; }
  /// The nodes that have workers, ascending.
  const std::vector<node_id>& inhabited() const noexcept { return inhabited_; }
  const std::vector<node_id>& served_by() const noexcept { return served_by_; }
  const worker_set& everybody() const noexcept { return everybody_; }
  /// All other workers, in the order in which `thief` visits them (cyclic or nearest).
  std::vector<worker_id> victims(worker_id thief, victim_order) const;
  /// All nodes that have workers, by distance from `n`; n first.
  std::vector<node_id> nodes_by_distance(node_id n) const;
  int distance(node_id a, node_id b) const { return on_.distance(a, b); }

 private:
  const machine& on_;
  std::vector<node_id> node_of_;
  std::vector<std::vector<worker_id>> at_node_;
  std::vector<node_id> served_by_;
  std::vector<node_id> inhabited_;
  std::vector<worker_set> serving_;
  worker_set everybody_;
};

}  // namespace kith
