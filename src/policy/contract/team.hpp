// The workers and where they are: what policies see of the machine.
#pragma once

#include "base/worker_set.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith {

/// The order in which a thief visits its victims.
enum class victim_order : std::uint8_t {
  cyclic,   // the next worker first, wrapping
  random,   // drawn for each attempt
  nearest,  // by distance between the nodes; ties in cyclic order
  caches,   // as nearest, but of equally near victims those that share the thief's cache first
  nodes,    // the thief's node in cyclic order, then the other nodes by distance, each from its first worker on
};

class team {
 public:
  /// `node_of[w]` is the node of worker w. `cores[w]` is a core whose last-level cache worker w does not leave; empty:
  /// workers may be anywhere on their nodes.
  team(const machine& on, std::vector<node_id> node_of, std::span<const core_id> cores = {});

  int size() const noexcept { return static_cast<int>(node_of_.size()); }
  int nodes() const noexcept { return static_cast<int>(at_node_.size()); }
  node_id node_of(worker_id w) const noexcept { return node_of_[w.index()]; }
  /// How many workers are on the node.
  int working_at(node_id n) const noexcept { return static_cast<int>(at_node_[n.index()].size()); }
  /// The workers that serve a node: its own, or, if it has none, those of the nearest node with workers. Never
  /// empty.
  const worker_set& serving(node_id n) const noexcept { return serving_[n.index()]; }
  /// The node whose workers serve `n`.
  node_id served_by(node_id n) const noexcept { return served_by_[n.index()]; }
  /// The nodes that have workers, ascending.
  const std::vector<node_id>& inhabited() const noexcept { return inhabited_; }
  const std::vector<node_id>& served_by() const noexcept { return served_by_; }
  const worker_set& everybody() const noexcept { return everybody_; }
  /// The workers on node n; may be empty.
  const std::vector<worker_id>& workers_at(node_id n) const noexcept { return at_node_[n.index()]; }
  /// All other workers, in the order in which `thief` visits them (not random).
  std::vector<worker_id> victims(worker_id thief, victim_order) const;
  /// All nodes that have workers, by distance from `n`; n first.
  std::vector<node_id> nodes_by_distance(node_id n) const;
  /// The largest distance within a machine: firmware reports 255 for an unreachable node (ACPI specification,
  /// SLIT).
  static constexpr int farthest = 254;
  /// The nodes that have workers, ascending, grouped by machine. Only a cluster has several groups.
  std::vector<std::vector<node_id>> machines() const;
  int distance(node_id a, node_id b) const { return on_.distance(a, b); }
  /// The rank of b's distance from a: 0 for the distance from a to itself, 1 for the next larger distance, ...
  int hops(node_id a, node_id b) const;
  /// Bytes of the last-level cache of node n's cores, divided by the cores that share it; 0: not known.
  std::uint64_t cache_share(node_id n) const;
  /// The last-level cache that worker w uses, as an index of machine::caches; -1: not known. If the worker may be
  /// anywhere on its node, it is known where one cache serves all of the node's cores.
  int cache_of(worker_id w) const noexcept { return cache_of_[w.index()]; }
  /// The sum of the cache shares of the node's cores.
  std::uint64_t cache_bytes(node_id n) const { return cache_share(n) * on_.nodes[n.index()].cores.size(); }

 private:
  const machine& on_;
  std::vector<node_id> node_of_;
  std::vector<int> first_cache_;  // by node: the last-level cache of its first core; -1: not known
  std::vector<int> cache_of_;     // by worker
  std::vector<std::vector<worker_id>> at_node_;
  std::vector<node_id> served_by_;
  std::vector<node_id> inhabited_;
  std::vector<worker_set> serving_;
  worker_set everybody_;
};

}  // namespace kith
