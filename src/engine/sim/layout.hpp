// Where the data of a recorded program lies at replay, as its allocations say.
//
// MIR paper, section 3: `fine` and `coarse`; `block` and hints of single calls are not in the paper. The allocations are laid
// out anew, each at an address of its own: where they were is chance, and memory that was given back and taken again was two
// allocations. What is not from an allocation has no place here: first touch decides. Immutable.
#pragma once

#include "engine/sim/program.hpp"
#include "machine/machine.hpp"
#include "memory/placement.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::sim {

enum class distribution : std::uint8_t {
  first_touch,
  fine,      // page by page over the nodes in turn
  coarse,    // all of an allocation on one node, the next one on the next node
  block,     // as many contiguous, equal shares of an allocation as there are nodes
  recorded,  // each allocation as it was asked for in the recorded run
  regions,   // as coarse, if every region were an allocation of its own
  colors,    // with the owner of the color of the task that writes it first
};

class layout {
 public:
  /// `worker_nodes`: of each worker; nodes are dealt from that of worker 0 on. `piece`: bytes that are on one node, at
  /// least; pages are dealt in such pieces.
  layout(const program& p, const machine& on, std::span<const node_id> worker_nodes, distribution d,
         std::uint64_t piece);

  /// Where region r is, in the layout. Unique, and the same for the same recording.
  std::uintptr_t address(std::uint32_t r) const noexcept { return address_[r]; }
  /// The allocation that it lies in; null: none that decides anything.
  const placement* block(std::uint32_t r) const noexcept {
    return block_of_[r] < 0 ? nullptr : &blocks_[static_cast<std::size_t>(block_of_[r])];
  }
  /// The node of a byte of region r; none: first touch decides.
  node_id node_at(std::uint32_t r, std::uint64_t offset) const noexcept {
    const placement* const b = block(r);
    const std::uintptr_t at = address_[r] + offset;
    return b != nullptr && at - b->begin < b->bytes ? b->node_at(at) : node_id();
  }
  /// True if a task that writes region r decides where all of it is (distribution::deferred).
  bool deferred(std::uint32_t r) const noexcept {
    const placement* const b = block(r);
    return b != nullptr && b->what == kith::distribution::deferred;
  }

 private:
  std::vector<placement> blocks_;        // by allocation
  std::vector<std::uintptr_t> address_;  // by region
  std::vector<std::int32_t> block_of_;   // by region; -1: none
};

}  // namespace kith::sim
