// From accesses to edges: the sibling rules.
//
// A tracker remembers, for one region, the task that later accesses wait for (the writer), and the group of tasks that
// run side by side after it: readers, concurrent or commutative ones. All of it belongs to the scope's owner.
// References in trackers may be stale: edges::add() then adds no edge.
#pragma once

#include "task/address_map.hpp"
#include "task/edges.hpp"

#include <vector>

namespace kith {

/// Slots that list the members of groups. They belong to a scope and are given back when it is empty.
class block_pool {
 public:
  slot_index take(slot_cache& slots) {
    if (free_.empty()) {
      all_.push_back(slots.take());
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

/// Collects the edges of one task that is being created.
class edge_collector {
 public:
  edge_collector(task& t, reference self, slot_cache& slots, block_pool& blocks)
      : task_(t), self_(self.index), me_(self.packed().value), slots_(slots), blocks_(blocks) {}

  void after(reference before) { edges::add(task_, self_, before, edges_, slots_); }

  /// Adds the edges that access `how` to the region of `k` asks for, and makes the task known in `k`.
  /// `fence(for_each)` is called where a group is followed by one of another kind: it must create an internal task that
  /// ends after every task that `for_each(callback)` passes to its callback, and return its reference.
  template <class Fence>
  void access(detail::tracker& k, mode how, Fence&& fence) {
    if (how == mode::out || how == mode::inout) {
      if (k.member == 0) {
        after(k.writer);
      } else {
        for_each_member(k, [&](std::uint64_t r) { after(r); });
        drop_group(k);
      }
      k.writer = me_;
      return;
    }
    const std::uint64_t kind = how == mode::in ? readers : how == mode::concurrent ? together : one_at_a_time;
    if (k.member != 0 && (k.member & kind_mask) != kind) seal_group(k, fence);
    if (k.writer != me_) after(k.writer);
    join_group(k, kind);
  }

  /// True if the task has named this region before. (Of a group of more than two, only the last member is looked at.)
  bool named_before(const detail::tracker& k) const noexcept {
    return k.writer == me_ || (k.member & ~kind_mask) == me_ || k.second == me_;
  }

  std::uint32_t edges() const noexcept { return edges_; }

 private:
  // The kind of a group is kept in the bits of its first member's reference that no index uses.
  static constexpr unsigned kind_shift = slot_index_bits;
  static constexpr std::uint64_t kind_mask = std::uint64_t{3} << kind_shift;
  static constexpr std::uint64_t readers = std::uint64_t{0} << kind_shift;
  static constexpr std::uint64_t together = std::uint64_t{1} << kind_shift;
  static constexpr std::uint64_t one_at_a_time = std::uint64_t{2} << kind_shift;

  /// Members of a group beyond the second, in the payload line of a slot.
  struct member_block {
    static constexpr std::uint32_t room = 7;
    std::uint64_t members[room];
    slot_index next;
    std::uint32_t count;
  };
  static_assert(sizeof(member_block) <= task::payload_bytes);

  void after(std::uint64_t before) { edges::add(task_, self_, reference::of({before}), edges_, slots_); }

  member_block& block_at(slot_index i) const noexcept {
    return *reinterpret_cast<member_block*>(slots_.space()[i].payload);
  }

  template <class Each>
  void for_each_member(const detail::tracker& k, Each&& each) {
    each(k.member & ~kind_mask);
    if (k.second == 0) return;
    each(k.second);
    for (slot_index b = k.block; b != 0; b = block_at(b).next) {
      const member_block& block = block_at(b);
      for (std::uint32_t i = 0; i < block.count; ++i) each(block.members[i]);
    }
  }

  void drop_group(detail::tracker& k) {
    for (slot_index b = k.block; b != 0;) {
      const slot_index next = block_at(b).next;
      blocks_.give(b);
      b = next;
    }
    k.member = 0;
    k.second = 0;
    k.block = 0;
  }

  /// One task takes the place of the whole group as the writer. It does not wait for the task that asks for it: a task
  /// may name a region in two ways, and would wait for itself.
  template <class Fence>
  void seal_group(detail::tracker& k, Fence&& fence) {
    if (k.second == 0) {
      k.writer = k.member & ~kind_mask;
    } else {
      k.writer = fence([&](auto&& each) {
                   for_each_member(k, [&](std::uint64_t r) {
                     if (r != me_) each(reference::of({r}));
                   });
                 })
                     .packed()
                     .value;
    }
    drop_group(k);
  }

  void join_group(detail::tracker& k, std::uint64_t kind) {
    if (k.member == 0) {
      k.member = me_ | kind;
    } else if (k.second == 0) {
      if ((k.member & ~kind_mask) != me_) k.second = me_;
    } else if (k.second != me_) {
      join_block(k);
    }
  }

  void join_block(detail::tracker& k) {
    slot_index b = k.block;
    if (b != 0 && block_at(b).members[block_at(b).count - 1] == me_) return;
    if (b != 0 && block_at(b).count == member_block::room) prune(block_at(b));
    if (b == 0 || block_at(b).count == member_block::room) {
      const slot_index fresh = blocks_.take(slots_);
      block_at(fresh).next = b;
      block_at(fresh).count = 0;
      k.block = b = fresh;
    }
    member_block& block = block_at(b);
    block.members[block.count++] = me_;
  }

  /// Drops members that have ended. Only when a block is full: looking at a member touches its line. One member
  /// stays at least, so that a block is never empty.
  void prune(member_block& block) {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < block.count; ++i) {
      const reference r = reference::of({block.members[i]});
      // acquire: a dropped member's writes must still be visible to whoever would have waited for it.
      const std::uint64_t head = slots_.space()[r.index].head.load(acquire);
      if (edges::generation_of(head) == r.generation) block.members[kept++] = block.members[i];
    }
    block.count = kept == 0 ? 1 : kept;
  }

  task& task_;
  slot_index self_;
  std::uint64_t me_;
  slot_cache& slots_;
  block_pool& blocks_;
  std::uint32_t edges_ = 0;
};

}  // namespace kith
