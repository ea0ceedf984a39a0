// Where the bytes of accesses are, as policies may ask: no system call, no lock. The same in both worlds.
//
// What is known of a region: one home (first touch, or an allocation on one node), or the placement of the allocation that
// it lies in, or nothing. Any thread. In simulated time addresses are names, or places in the layout of the recorded allocations.
#pragma once

#include "memory/placement.hpp"
#include "task/region.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

class memory_view {
 public:
  /// `serving[n]`: the node whose workers run what is sent to node n; n itself, unless it has none.
  memory_view(region_table& regions, std::vector<node_id> serving) : regions_(&regions), serving_(std::move(serving)) {}

  int nodes() const noexcept { return static_cast<int>(serving_.size()); }
  /// The node whose workers run what is sent to node n.
  node_id serving(node_id n) const noexcept { return serving_[n.index()]; }
  region& region_of(kept_access a) const noexcept { return (*regions_)[a.region]; }

  /// Adds the region's first `bytes` bytes to the entries of the nodes that they are on; returns those that are nowhere yet
  /// (not touched, or in deferred memory that nobody has written). REQUIRES: an entry for each node.
  std::uint64_t add_bytes(const region& r, std::uint64_t bytes, std::span<std::uint64_t> by_node) const noexcept {
    const std::int32_t home = r.home.load(relaxed);
    if (home >= 0) [[likely]] {
      by_node[static_cast<std::size_t>(home)] += bytes;
      return 0;
    }
    const placement* const block = r.block.load(relaxed);
    if (home == region::no_home || block == nullptr) return bytes;
    std::uint64_t unknown = 0;
    block->add_bytes(reinterpret_cast<std::uintptr_t>(r.address), bytes, by_node, unknown);
    return unknown;
  }
  std::uint64_t add_bytes(kept_access a, std::span<std::uint64_t> by_node) const noexcept {
    return add_bytes(region_of(a), a.bytes(), by_node);
  }

  /// A policy sends a task with this access to node `n`: that is the region's home now, if it has none and nothing else
  /// decides it. A task that only reads decides nothing in deferred memory. True if it was placed now.
  bool place(kept_access a, node_id n) const noexcept {
    region& r = region_of(a);
    if (!may_place(a, r) || !r.place(serving_[n.index()])) return false;
    r.promised.store(true, relaxed);
    return true;
  }
  /// A task with this access runs on node `n`. The same; and if it is the first, and was sent elsewhere but stolen or taken
  /// past its queue, the region is where it runs: that is where its pages will be. True if it was placed now. Tasks that race
  /// for new data leave one of their nodes as its home.
  bool touch(kept_access a, node_id n) const noexcept {
    region& r = region_of(a);
    if (may_place(a, r)) return r.place(serving_[n.index()]);
    if (r.promised.load(relaxed) && r.promised.exchange(false, relaxed) && !r.to_bind.load(relaxed))
      r.home.store(serving_[n.index()].value, relaxed);
    return false;
  }

 private:
  static bool may_place(kept_access a, const region& r) noexcept {
    return r.home.load(relaxed) == region::no_home && !(a.how == mode::in && r.to_bind.load(relaxed));
  }

  region_table* regions_;
  std::vector<node_id> serving_;
};

}  // namespace kith
