// The intended nodes of the pages of one allocation, computed from the address without asking the system.
//
// A plain value that any thread may read. `fine` follows the kernel's rule for an interleaved mapping: page
// number p (address / page size) is on node p mod n of its mask, which is in ascending order of the system's
// numbers. Linux before 6.7 uses only the low 32 bits of p; `first_page` is then the part that it leaves out.
#pragma once

#include "base/address.hpp"
#include "base/id.hpp"

#include <kith/memory.hpp>

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace kith {

struct page_map {
  std::uintptr_t begin = 0;
  std::uint64_t bytes = 0;                         // the size of the mapping
  std::uint64_t page_bytes = 4096;                 // the unit of placement
  distribution::kind what = distribution::system;  // in effect: `system` if nothing can be placed
  std::uint64_t first_page = 0;                    // for `fine`, pages are numbered from here
  std::vector<node_id> nodes = {};                 // one, or those that pages are dealt to; empty: first touch decides

  auto operator<=>(const page_map&) const = default;

  void* address() const noexcept { return at_address(begin); }
  bool contains(const void* p) const noexcept { return reinterpret_cast<std::uintptr_t>(p) - begin < bytes; }
  /// True if its pages may be on different nodes.
  bool spreads() const noexcept { return nodes.size() > 1; }
  /// The node of the page that contains `address`; none if first touch decides. REQUIRES: the address is in the
  /// allocation.
  node_id node_at(std::uintptr_t address) const noexcept;
  /// The node of the `count` bytes from `address` on, as far as they are in the allocation; none if they are on
  /// several nodes, or first touch decides. REQUIRES: the address is in the allocation.
  node_id node_of(std::uintptr_t address, std::uint64_t count) const noexcept;
  /// The address at which the share of nodes[i] begins, for `block`.
  std::uintptr_t share_begin(std::size_t i) const noexcept;
  /// Adds the bytes from `address` on to the entries of their nodes. Bytes beyond the end, and those whose node
  /// is not decided, are added to `unknown`. Costs O(nodes).
  void add_bytes(std::uintptr_t address, std::uint64_t count, std::span<std::uint64_t> by_node,
                 std::uint64_t& unknown) const noexcept;
};

}  // namespace kith
