// The edges that the accesses of a task being created require: the sibling rules, applied to the scope's trackers.
//
// Only the scope's owner uses this. References in trackers may be stale; edges::add() then adds no edge.
#pragma once

#include "task/address_map.hpp"
#include "task/edges.hpp"
#include "task/sibling_rules.hpp"

#include <utility>
#include <vector>

namespace kith {

/// Slots whose payload lines list the members of groups of accesses. They belong to a scope and are freed when it is
/// empty.
class block_pool {
 public:
  static member_block& at(slot_space::view slots, slot_index b) noexcept {
    return *reinterpret_cast<member_block*>(slots[b].payload);
  }
  /// A block that was given back; 0: there is none.
  slot_index take_spare(slot_space::view slots) noexcept {
    const slot_index b = spare_;
    if (b != 0) spare_ = at(slots, b).next;
    return b;
  }
  slot_index take(slot_cache& slots) {
    if (const slot_index b = take_spare(slots.space().all()); b != 0) return b;
    all_.push_back(slots.space().index_of(slots.take()));
    return all_.back();
  }
  void give(slot_space::view slots, slot_index b) noexcept { at(slots, b).next = std::exchange(spare_, b); }
  template <class Give>
  void clear(Give&& give_slot) {
    for (slot_index b : all_) give_slot(b);
    all_.clear();
    spare_ = 0;
  }

 private:
  static_assert(sizeof(member_block) <= task::payload_bytes);
  std::vector<slot_index> all_;
  slot_index spare_ = 0;  // the newest that was given back; each names the one before
};

/// Adds the edges of one task that is being created.
class edge_collector : public sibling_rules<edge_collector> {
 public:
  /// `edges`: the number of the task's edges that were added before.
  edge_collector(task& t, task_ref self, slot_cache& slots, block_pool& blocks, std::size_t edges = 0)
      : sibling_rules(self.value),
        task_(t),
        self_(reference::from(self).index),
        slots_(slots),
        all_(slots.space().all()),
        blocks_(blocks),
        edges_(edges) {}

  [[gnu::always_inline]] void after(reference before) { edges::add(task_, self_, before, edges_, slots_); }

  std::size_t edges() const noexcept { return edges_; }
  /// Sets the number of the task's edges, after another collector has added some.
  void count(std::size_t edges) noexcept { edges_ = edges; }
  /// Whether access_plainly() can do a read of this range that it has refused because the list of readers was full.
  [[gnu::always_inline]] bool can_retry_reading(detail::tracker& k) noexcept {
    return has_room(1) && is_read(k) && make_room(k, me(), slots_, blocks_);
  }

 private:
  friend sibling_rules<edge_collector>;
  [[gnu::always_inline]] void after(std::uint64_t before, std::uint64_t) { after(reference::from({before})); }

  bool has_room(std::size_t edges) const noexcept { return edges_ <= task::embedded_links - edges; }
  [[gnu::always_inline]] void plainly_after(std::uint64_t before, std::uint64_t) {
    edges::add_embedded(task_, self_, reference::from({before}), edges_, all_);
  }
  void adopt(const edge_collector& copy) noexcept { edges_ = copy.edges_; }
  member_block& block_at(slot_index i) const noexcept { return block_pool::at(all_, i); }
  slot_index take_block() { return blocks_.take(slots_); }
  slot_index take_spare_block() noexcept { return blocks_.take_spare(all_); }
  void give_block(slot_index b) noexcept { blocks_.give(all_, b); }

  void keep_members(member_block& block) const noexcept { drop_ended(all_, block); }
  /// Drops members that have ended. Called only when a block is full, because it reads each member's header line. At
  /// least one member stays, so that a block is never empty.
  static void drop_ended(slot_space::view slots, member_block& block) noexcept {
    const auto has_ended = [&](std::uint64_t member) {
      const reference r = reference::from({member});
      // acquire: pairs with close(); a dropped member's writes must be visible to the tasks that would have
      // waited for it.
      return edges::generation_of(slots[r.index].head.load(acquire)) != r.generation;
    };
    // If neither the oldest nor the newest has ended, few have.
    if (!has_ended(block.members[0]) && !has_ended(block.members[block.count - 1])) return;
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < block.count; ++i) {
      if (!has_ended(block.members[i])) block.members[kept++] = block.members[i];
    }
    block.count = kept == 0 ? 1 : kept;
  }
  /// Makes room for one more reader of a range that has two or more. Not a member, so that the edge_collector can stay
  /// in registers.
  [[gnu::noinline]] static bool make_room(detail::tracker& k, std::uint64_t reader, slot_cache& slots,
                                          block_pool& blocks) noexcept {
    const slot_space::view all = slots.space().all();
    if (k.block != 0) {
      member_block& newest = block_pool::at(all, k.block);
      drop_ended(all, newest);
      if (newest.count != member_block::room) return true;
    }
    try {
      const slot_index fresh = blocks.take(slots);
      block_pool::at(all, fresh) = {.members = {reader}, .next = k.block, .count = 1};
      k.block = fresh;
      return true;
    } catch (...) {
      return false;  // add_remaining_edges() will throw it
    }
  }

  task& task_;
  slot_index self_;
  slot_cache& slots_;
  slot_space::view all_;
  block_pool& blocks_;
  std::size_t edges_;
};

}  // namespace kith
