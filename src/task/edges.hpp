// Edges between tasks: successor lists that close, and join counters.
//
// A task's successor list hangs off `head` = generation | first link. A link names the successor, and which of the
// successor's link words continues the list. So edges need no memory of their own for up to five predecessors; further
// link words come in blocks (a slot holds 11) that belong to the successor. Who may call what: the creator of a task
// adds edges to it until open_join(); the worker that ends a task closes its list and walks it; the one that makes a
// task ready frees the blocks. Invariants:
//  E1  A link is added only while the slot's generation equals the reference's. Closing changes the generation,
//      so each edge is either in the list that close() returns, or was never added.
//  E2  join = 2^30 - (predecessors that ended) while the task is created, then (edges added) - (predecessors that
//      ended). Exactly one party sees it become zero.
//  E3  A walker reads the next link before it counts down, because the successor may run, and its slot may be
//      reused, at once.
//  E4  A task whose link is the newest of a list gets no second one there. Only its creator adds its links, so it is
//      in no list twice, unless other tasks with the same predecessor are created meanwhile by other threads. A task
//      that overwrites what its predecessors have read mostly reads what they have written.
// A generation has 32 bits. If a slot is reused exactly 2^32 times while a reference to it is held, the
// reference seems to name a live task: see docs/decisions/generations.md.
#pragma once

#include "base/prefetch.hpp"
#include "task/slots.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace kith {

namespace edges {

inline constexpr std::uint32_t creation_token = 1u << 30;
inline constexpr std::uint32_t link_number_bits = 4;

/// Further link words of one successor, in the payload line of a slot whose header stays unchanged (L2 of slots.hpp).
struct overflow_block {
  static constexpr std::uint32_t room = (1u << link_number_bits) - task::embedded_links;
  std::uint32_t links[room];
  slot_index successor;
  slot_index next;         // 0: this is the first that was made
  std::uint32_t sequence;  // there: the successor's
};
static_assert(sizeof(overflow_block) <= task::payload_bytes);

inline overflow_block& block_at(const slot_space& space, slot_index i) noexcept {
  return *reinterpret_cast<overflow_block*>(space[i].payload);
}

inline std::uint32_t generation_of(std::uint64_t head) noexcept { return static_cast<std::uint32_t>(head >> 32); }
inline std::uint32_t link_of(std::uint64_t head) noexcept { return static_cast<std::uint32_t>(head); }

/// The name of a task that is being created, or lives.
[[gnu::always_inline]] inline task_ref name_of(const slot_space& space, const task& t) noexcept {
  return {(t.head.load(relaxed) & ~std::uint64_t{0xffffffff}) | space.index_of(t)};
}
inline reference reference_to(const slot_space& space, const task& t) noexcept {
  return reference::from(name_of(space, t));
}

/// Drops the references to tasks that have ended. Returns the number of entries at which to call it again, `least` or
/// more.
inline std::size_t drop_stale(std::vector<reference>& some, const slot_space& space, std::size_t least) {
  std::erase_if(some, [&](reference r) { return generation_of(space[r.index].head.load(relaxed)) != r.generation; });
  return std::max(least, some.size() * 2);
}

/// Called by the creator, before add(), and before any other thread can see the task.
inline void forget_predecessors(task& t) noexcept { std::memset(t.links, 0, sizeof t.links); }
/// Prepares the join counter for add(). Called as forget_predecessors() is.
inline void start_join(task& t) noexcept { t.join.store(creation_token, relaxed); }

/// Room for one more link of `t`: a word that can hold a link, and its name. `edges` counts the links made so far.
struct link_room {
  std::uint32_t* word;
  std::uint32_t name;
};
[[gnu::always_inline]] inline link_room next_link(task& t, slot_index self, std::size_t edges, slot_cache& slots) {
  if (edges < task::embedded_links)
    return {&t.links[edges], self << link_number_bits | static_cast<std::uint32_t>(edges)};
  slot_space& space = slots.space();
  const std::size_t k = (edges - task::embedded_links) % overflow_block::room;
  if (k == 0) {
    const slot_index b = space.index_of(slots.take());
    overflow_block& fresh = block_at(space, b);
    fresh.successor = self;
    fresh.next = 0;
    ((t.flags & task::has_overflow) != 0 ? fresh.next : fresh.sequence) = t.sequence;
    t.sequence = b;
    t.flags |= task::has_overflow;
  }
  overflow_block& b = block_at(space, t.sequence);
  return {&b.links[k], t.sequence << link_number_bits | (task::embedded_links + static_cast<std::uint32_t>(k))};
}

/// Puts a link into the list of `p`, whose header was `head`, unless the generation has changed.
[[gnu::always_inline]] inline bool try_to_put(task& p, std::uint64_t& head, link_room room) {
  *room.word = link_of(head);
  const std::uint64_t with_us = (head & ~std::uint64_t{0xffffffff}) | room.name;
  // release: pairs with the exchange in close(), which sees the link word. acquire on failure: as in add().
  return p.head.compare_exchange_strong(head, with_us, release, acquire);
}
[[gnu::noinline]] inline bool put_again(task& p, std::uint64_t head, std::uint32_t generation, link_room room) {
  while (generation_of(head) == generation) {
    if (try_to_put(p, head, room)) return true;
  }
  *room.word = 0;
  return false;
}
[[gnu::always_inline]] inline bool put_in_list(task& p, std::uint64_t head, std::uint32_t generation, link_room room,
                                               std::size_t& edges) {
  if (!try_to_put(p, head, room) && !put_again(p, head, generation, room)) [[unlikely]]
    return false;
  ++edges;
  return true;
}

/// Makes `t` (index `self`) a successor of `before`, unless `before` has ended (then returns false). `edges` counts t's
/// edges; it is incremented if an edge was added. Called by t's creator. Cost: one compare-exchange on the
/// predecessor's header.
[[gnu::always_inline]] inline bool add(task& t, slot_index self, reference before, std::size_t& edges,
                                       slot_cache& slots) {
  if (!before || before.index == self) return false;
  task& p = slots.space()[before.index];
  // acquire: pairs with close(); the writes of a task that has ended are visible to the creator, and so to t.
  const std::uint64_t head = p.head.load(acquire);
  if (generation_of(head) != before.generation) return false;
  const slot_index newest = link_of(head) >> link_number_bits;
  if (newest == self || ((t.flags & task::has_overflow) != 0 && newest == t.sequence)) return true;  // E4
  return put_in_list(p, head, before.generation, next_link(t, self, edges, slots), edges);
}

/// As add(), for a predecessor that is not `t`, by an embedded link. REQUIRES: edges < task::embedded_links.
[[gnu::always_inline]] inline bool add_embedded(task& t, slot_index self, reference before, std::size_t& edges,
                                                slot_space::view slots) {
  if (!before) return false;
  task& p = slots[before.index];
  const std::uint64_t head = p.head.load(acquire);  // as in add()
  if (generation_of(head) != before.generation) return false;
  if (link_of(head) >> link_number_bits == self) return true;  // E4
  return put_in_list(p, head, before.generation,
                     {&t.links[edges], self << link_number_bits | static_cast<std::uint32_t>(edges)}, edges);
}

/// Ends the creation of `t`. True if no predecessor is left: the caller must then make `t` ready.
[[gnu::always_inline]] inline bool open_join(task& t, std::size_t edges) noexcept {
  if (edges == 0) return true;
  const std::uint32_t change = creation_token - static_cast<std::uint32_t>(edges);
  // acq_rel pairs with count_down(). release: the thread that makes the task ready sees the creator's writes to it;
  // acquire: the creator sees the writes of predecessors that have ended.
  return t.join.fetch_sub(change, acq_rel) == change;
}

/// Closes the task's successor list for good and returns its first link. Called by the worker that ended the task.
inline std::uint32_t close(task& t) noexcept {
  // Only this worker may change the generation, so the exchange cannot lose a concurrent change of it.
  const std::uint64_t generation = t.head.load(relaxed) >> 32;
  // release: pairs with an add() that is too late; acquire: pairs with an add() that is in time.
  return link_of(t.head.exchange((generation + 1) << 32, acq_rel));
}

/// As close(), for a task that no other thread knows: it has no successor.
inline void close_unseen(task& t) noexcept { t.head.store(((t.head.load(relaxed) >> 32) + 1) << 32, relaxed); }

/// As close(), if the task has no successor; else does nothing and returns false.
inline bool close_if_alone(task& t) noexcept {
  std::uint64_t head = t.head.load(relaxed);
  // acq_rel: as in close().
  return link_of(head) == 0 && t.head.compare_exchange_strong(head, ((head >> 32) + 1) << 32, acq_rel, relaxed);
}

/// Called when a predecessor of `t` has ended. True if it was the last one: the caller must then make `t` ready.
inline bool count_down(task& t) noexcept {
  // If 1 is left, it is the caller's: no other thread will touch the counter, so no read-modify-write is needed.
  // acquire: pairs with the fetch_sub of the other predecessors; the task sees what they wrote.
  if (t.join.load(acquire) == 1) return true;
  return t.join.fetch_sub(1, acq_rel) == 1;
}

/// Prefetches the header of the successor that release() comes to first. Called before the task's body, whose time
/// hides the transfer.
[[gnu::always_inline]] inline void prefetch_first(const slot_space& space, const task& t) noexcept {
  if (const std::uint32_t link = link_of(t.head.load(relaxed)); link != 0)
    prefetch_to_write(&space[link >> link_number_bits]);
}

/// Calls ready(task&) for each successor in the list that has no predecessor left. `worker` has ended this one.
template <class Ready>
[[gnu::always_inline]] inline void release(const slot_space& space, std::uint32_t link, worker_id worker,
                                           Ready&& ready) {
  if (link == 0) return;
  const slot_space::view slots = space.all();
  do {
    const slot_index at = link >> link_number_bits;
    const std::uint32_t number = link & ((1u << link_number_bits) - 1);
    task* s = &slots[at];
    if (number < task::embedded_links) [[likely]] {
      link = std::exchange(s->links[number], task::mark_of(worker));
    } else {
      const overflow_block& b = *reinterpret_cast<const overflow_block*>(s->payload);
      link = b.links[number - task::embedded_links];
      s = &slots[b.successor];
    }
    // E3: all reads of the block come before this.
    if (count_down(*s)) ready(*s);
  } while (link != 0);
}

/// Frees the overflow blocks of a task by give(slot), and restores its place in the order of creation. Must be called
/// once, by the thread that makes the task ready or discards it: all its predecessors have ended, or will not run.
template <class Give>
void free_overflow(const slot_space& space, task& t, Give&& give) {
  if ((t.flags & task::has_overflow) == 0) return;
  // The flag stays set, because other threads may be reading the flags.
  for (slot_index b = t.sequence; b != 0;) {
    const overflow_block& block = block_at(space, b);
    const slot_index next = block.next;
    if (next == 0) t.sequence = block.sequence;
    give(space[b]);
    b = next;
  }
}

}  // namespace edges

}  // namespace kith
