// Where the data of a recorded program is in a simulation, according to its allocations.
//
// MIR paper, section 3: `fine` and `coarse`; `block` and hints of single calls are not in the paper. The allocations
// are laid out again, each at an address of its own, because their recorded addresses are arbitrary, and memory that
// was freed and reused belonged to two allocations. Data outside of allocations is not laid out; first touch decides
// its home. Immutable.
#pragma once

#include "engine/sim/program.hpp"
#include "machine/machine.hpp"
#include "memory/page_map.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::sim {

enum class distribution : std::uint8_t {
  first_touch,
  fine,      // pages round robin over the nodes
  coarse,    // a whole allocation on one node, the next one on the next node
  block,     // one contiguous, equal share of an allocation for each node
  recorded,  // each allocation as requested in the recorded run
  regions,   // as coarse, with every region as an allocation of its own
  colors,    // on the node of the color of the first task that writes it
};

class address_layout {
 public:
  /// `worker_nodes` has the node of each worker; nodes are dealt from that of worker 0 on. `piece` is the least
  /// number of bytes on one node; pages are dealt in such pieces.
  address_layout(const program& p, const machine& on, std::span<const node_id> worker_nodes, distribution d,
                 std::uint64_t piece);

  /// The address of region r in the layout. Unique, and always the same for a recording.
  std::uintptr_t address(std::uint32_t r) const noexcept { return address_[r]; }
  /// The allocation that contains region r; null if none decides its home.
  const page_map* block(std::uint32_t r) const noexcept {
    return block_of_[r] < 0 ? nullptr : &blocks_[static_cast<std::size_t>(block_of_[r])];
  }
  /// The node of a byte of region r; none if first touch decides.
  node_id node_at(std::uint32_t r, std::uint64_t offset) const noexcept {
    const page_map* const b = block(r);
    const std::uintptr_t at = address_[r] + offset;
    return b != nullptr && at - b->begin < b->bytes ? b->node_at(at) : node_id();
  }
  /// Whether the first task that writes region r decides the home of all of it (distribution::deferred).
  bool deferred(std::uint32_t r) const noexcept {
    const page_map* const b = block(r);
    return b != nullptr && b->what == kith::distribution::deferred;
  }

 private:
  std::vector<page_map> blocks_;         // by allocation
  std::vector<std::uintptr_t> address_;  // by region
  std::vector<std::int32_t> block_of_;   // by region; -1: none
};

}  // namespace kith::sim
