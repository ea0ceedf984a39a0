// The nodes of the bytes of accesses, for policies: without a system call or a lock. The same in both worlds.
//
// A region has one home (by first touch, or in an allocation on one node), or the page map of the allocation that
// contains it, or neither. Thread-safe. In simulated time addresses are names, or positions in the layout of the
// recorded allocations.
#pragma once

#include "memory/page_map.hpp"
#include "task/region.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

class memory_view {
 public:
  /// `serving[n]` is the node whose workers run tasks sent to node n: n itself, unless it has no workers.
  memory_view(region_table& regions, std::vector<node_id> serving) : regions_(&regions), serving_(std::move(serving)) {}

  int nodes() const noexcept { return static_cast<int>(serving_.size()); }
  /// The node whose workers run tasks sent to node n.
  node_id serving(node_id n) const noexcept { return serving_[n.index()]; }
  region& region_of(const kept_access& a) const noexcept { return (*regions_)[a.region]; }

  /// Adds the region's first `bytes` bytes to the entries of their nodes. Returns the number of bytes without a
  /// node yet (not touched, or in deferred memory that is not written). REQUIRES: an entry for each node.
  std::uint64_t add_bytes(const region& r, std::uint64_t bytes, std::span<std::uint64_t> by_node) const noexcept {
    const std::int32_t home = r.home.load(relaxed);
    if (home >= 0) [[likely]] {
      by_node[static_cast<std::size_t>(home)] += bytes;
      return 0;
    }
    const page_map* const block = r.block.load(relaxed);
    if (home == region::no_home || block == nullptr) return bytes;
    std::uint64_t unknown = 0;
    block->add_bytes(reinterpret_cast<std::uintptr_t>(r.address), bytes, by_node, unknown);
    return unknown;
  }
  std::uint64_t add_bytes(const kept_access& a, std::span<std::uint64_t> by_node) const noexcept {
    return add_bytes(region_of(a), a.bytes(), by_node);
  }

  /// Whether no other region begins inside this one. Takes a lock.
  bool is_in_one_piece(const region& r) const {
    bool is_it = true;
    regions_->for_each_in(r.address, r.bytes.load(relaxed), [&](const region& other) { is_it &= &other == &r; });
    return is_it;
  }

  /// A policy sends a task with this access to node `n`, which becomes the region's home if it has none and nothing
  /// else decides it. In deferred memory, a task that only reads decides nothing. True if this call placed the region.
  bool set_home(const kept_access& a, node_id n) const noexcept {
    region& r = region_of(a);
    if (!may_place(r, a.how) || !r.set_home(serving_[n.index()])) return false;
    r.promised.store(true, relaxed);
    return true;
  }
  /// A task that accesses the region so runs on node `n`. Does the same as set_home(). Also, if the first task was sent
  /// to another node but was stolen or claimed, the home becomes the node where it runs, because its pages will be
  /// there. True if this call placed the region. If tasks race for new data, one of their nodes becomes its home.
  bool touch(region& r, mode how, node_id n) const noexcept {
    if (may_place(r, how)) return r.set_home(serving_[n.index()]);
    if (r.promised.load(relaxed) && r.promised.exchange(false, relaxed) && !r.to_bind.load(relaxed))
      r.home.store(region::number_of(serving_[n.index()]), relaxed);
    return false;
  }

 private:
  static bool may_place(const region& r, mode how) noexcept {
    return r.home.load(relaxed) == region::no_home && !(how == mode::in && r.to_bind.load(relaxed));
  }

  region_table* regions_;
  std::vector<node_id> serving_;
};

}  // namespace kith
