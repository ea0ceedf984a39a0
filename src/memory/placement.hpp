// Where the pages of one allocation are to be: computed from the address, never asked of the system.
//
// A plain value; any thread reads it. `fine` follows what the kernel does for an interleaved mapping: the page with
// number p (address / page size) is on node p mod n of its mask, which is in ascending order of the system's numbers. Linux
// before 6.7 takes the low 32 bits of p: `first_page` is what is left out then.
#pragma once

#include "base/address.hpp"
#include "base/id.hpp"

#include <kith/memory.hpp>

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace kith {

struct placement {
  std::uintptr_t begin = 0;
  std::uint64_t bytes = 0;                         // of the mapping
  std::uint64_t page_bytes = 4096;                 // that nodes are decided for
  distribution::kind what = distribution::system;  // in effect: system where nothing can be placed
  std::uint64_t first_page = 0;                    // pages are numbered from here for `fine`
  std::vector<node_id> nodes = {};                 // one, or those that pages are dealt to; none: first touch decides

  auto operator<=>(const placement&) const = default;

  void* address() const noexcept { return at_address(begin); }
  bool contains(const void* p) const noexcept { return reinterpret_cast<std::uintptr_t>(p) - begin < bytes; }
  /// True if any two of its pages may be on different nodes.
  bool spreads() const noexcept { return nodes.size() > 1; }
  /// The node of the page that `address` is in; none if first touch decides. REQUIRES: the address is in it.
  node_id node_at(std::uintptr_t address) const noexcept;
  /// The node of all bytes from `address` on that are in it; none if they are on several, or first touch decides. REQUIRES:
  /// the address is in it.
  node_id node_of(std::uintptr_t address, std::uint64_t count) const noexcept;
  /// Where the share of node `i` of `block` begins.
  std::uintptr_t share_begin(std::size_t i) const noexcept;
  /// Adds the bytes from `address` on to the entries of their nodes; what is beyond the end, or not decided, to
  /// `unknown`. Costs O(nodes).
  void add_bytes(std::uintptr_t address, std::uint64_t count, std::span<std::uint64_t> by_node,
                 std::uint64_t& unknown) const noexcept;
};

}  // namespace kith
