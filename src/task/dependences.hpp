// The edges that the accesses of a task being created require: the sibling rules, applied to the scope's trackers.
//
// Only the scope's owner uses this. References in trackers may be stale; edges::add() then adds no edge.
#pragma once

#include "task/address_map.hpp"
#include "task/edges.hpp"
#include "task/sibling_rules.hpp"

#include <vector>

namespace kith {

/// Slots that list the members of groups of accesses. They belong to a scope and are freed when it is empty.
class block_pool {
 public:
  slot_index take(slot_cache& slots) {
    if (free_.empty()) {
      all_.push_back(slots.space().index_of(slots.take()));
      return all_.back();
    }
    const slot_index b = free_.back();
    free_.pop_back();
    return b;
  }
  void give(slot_index b) { free_.push_back(b); }
  template <class Give>
  void clear(Give&& give_slot) {
    for (slot_index b : all_) give_slot(b);
    all_.clear();
    free_.clear();
  }

 private:
  std::vector<slot_index> all_, free_;
};

/// Adds the edges of one task that is being created.
class edge_collector : public sibling_rules<edge_collector> {
 public:
  /// `edges` have been added before.
  edge_collector(task& t, reference self, slot_cache& slots, block_pool& blocks, std::uint32_t edges = 0)
      : sibling_rules(self.packed().value),
        task_(t),
        self_(self.index),
        slots_(slots),
        blocks_(blocks),
        edges_(edges) {}

  [[gnu::always_inline]] void after(reference before) { edges::add(task_, self_, before, edges_, slots_); }

  std::uint32_t edges() const noexcept { return edges_; }
  /// Another collector has added edges of the same task: they are so many now.
  void count(std::uint32_t edges) noexcept { edges_ = edges; }

 private:
  friend sibling_rules<edge_collector>;
  static_assert(sizeof(member_block) <= task::payload_bytes);

  [[gnu::always_inline]] void after(std::uint64_t before, std::uint64_t) { after(reference::from({before})); }

  bool has_room(std::uint32_t edges) const noexcept { return edges_ <= task::embedded_links - edges; }
  [[gnu::always_inline]] void plainly_after(std::uint64_t before, std::uint64_t) {
    edges::add_embedded(task_, self_, reference::from({before}), edges_, slots_.space());
  }
  void adopt(const edge_collector& copy) noexcept { edges_ = copy.edges_; }
  /// The block in the payload line of a slot.
  member_block& block_at(slot_index i) const noexcept {
    return *reinterpret_cast<member_block*>(slots_.space()[i].payload);
  }
  slot_index take_block() { return blocks_.take(slots_); }
  void give_block(slot_index b) { blocks_.give(b); }

  /// Drops members that have ended. Called only when a block is full, because it reads each member's header
  /// line. At least one member stays, so that a block is never empty.
  void keep_members(member_block& block) const {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < block.count; ++i) {
      const reference r = reference::from({block.members[i]});
      // acquire: pairs with close(); a dropped member's writes must be visible to the tasks that would have
      // waited for it.
      const std::uint64_t head = slots_.space()[r.index].head.load(acquire);
      if (edges::generation_of(head) == r.generation) block.members[kept++] = block.members[i];
    }
    block.count = kept == 0 ? 1 : kept;
  }

  task& task_;
  slot_index self_;
  slot_cache& slots_;
  block_pool& blocks_;
  std::uint32_t edges_;
};

}  // namespace kith
