// The memory of tasks: one reserved range of addresses, so that a 28-bit index names a task.
//
// Each seat (a worker, or the outside) takes slots from its own stack. A slot freed by another seat goes back to its
// owner in batches. Invariants:
//  L1  A slot is in exactly one state: in use, in one seat's stack, in one seat's outgoing batch, or in one
//      inbound list.
//  L2  A freed slot keeps its header line, because stale references still read its generation. Batches use only
//      the payload line.
//  L3  Memory is never given back before the space is destroyed.
#pragma once

#include "base/atomic.hpp"
#include "base/prefetch.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <memory>

namespace kith {

/// The reserved range. Index 0 is no slot.
class slot_space {
 public:
  /// Reserves address space for `slots` slots; if the system refuses, for half as many, and so on. Throws
  /// kith::error if not even 4096 are possible.
  explicit slot_space(std::size_t slots = std::size_t{1} << 26);
  ~slot_space();
  slot_space(const slot_space&) = delete;
  slot_space& operator=(const slot_space&) = delete;

  task& operator[](slot_index i) const noexcept { return base_[i]; }
  /// The same for a loop, which then does not read the address again and again.
  class view {
   public:
    explicit view(task* base) noexcept : base_(base) {}
    task& operator[](slot_index i) const noexcept { return base_[i]; }

   private:
    task* base_;
  };
  view all() const noexcept { return view(base_); }
  std::size_t slots() const noexcept { return slots_; }
  slot_index index_of(const task& t) const noexcept { return static_cast<slot_index>(&t - base_); }
  /// Takes `count` slots that were never used; returns the first. Throws kith::error when the space is full.
  slot_index take_fresh(std::uint32_t count);
  /// The slots that a seat takes at a time: 8 KiB, whole pages.
  static constexpr std::uint32_t slab = 64;

 private:
  task* base_ = nullptr;
  std::size_t slots_ = 0;
  std::size_t mapped_ = 0;
  // Does not start at 1, so that a seat takes whole pages, which only that seat touches first.
  alignas(false_sharing_range) atomic<std::uint64_t> fresh_{slab};
};

/// One seat's slots. take() and give() are for the seat's own thread, receive() for any thread.
class slot_cache {
 public:
  slot_cache(slot_space& space, std::uint16_t seat) : space_(space), seat_(seat) {}
  slot_cache(const slot_cache&) = delete;
  slot_cache& operator=(const slot_cache&) = delete;

  /// A slot whose `owner` is this seat and whose generation is current; all other fields are garbage.
  [[gnu::always_inline]] task& take() {
    if (is_empty()) [[unlikely]]
      refill();
    --end_;
    prefetch_two_to_write(end_[-ahead]);
    return **end_;
  }
  /// Whether take() must first look for slots. If not, it throws nothing.
  bool is_empty() const noexcept { return end_ == stack_.get() + ahead; }

  /// Whether this seat took the slot.
  bool owns(const task& t) const noexcept { return t.owner == seat_; }
  /// Frees a slot that this seat took.
  [[gnu::always_inline]] void give_own(task& t) {
    if (end_ == limit_) [[unlikely]]
      make_room();
    *end_++ = &t;
  }
  /// Frees a slot of any seat; one of another seat is added to a batch. `caches` finds the owner's cache.
  template <class Caches>
  void give(task& t, const Caches& caches) {
    if (owns(t)) return give_own(t);
    const slot_index i = space_.index_of(t);
    if (outgoing_ != 0 && (t.owner != outgoing_owner_ || batch_of(outgoing_).count == batch::room)) {
      caches(outgoing_owner_).receive(outgoing_);
      outgoing_ = 0;
    }
    if (outgoing_ == 0) {
      outgoing_ = i;
      outgoing_owner_ = t.owner;
      batch_of(i).count = 0;
    } else {
      batch& b = batch_of(outgoing_);
      b.slots[b.count++] = i;
    }
  }
  /// Sends the slots that give() still holds. Called when the worker runs out of work.
  template <class Caches>
  void flush(Caches&& caches) {
    if (outgoing_ == 0) return;
    caches(outgoing_owner_).receive(outgoing_);
    outgoing_ = 0;
  }

  slot_space& space() const noexcept { return space_; }

 private:
  /// Freed slots, listed in the payload of one more freed slot.
  struct batch {
    static constexpr std::uint32_t room = 14;
    std::uint32_t count;
    slot_index next;
    slot_index slots[room];
  };
  static_assert(sizeof(batch) <= task::payload_bytes);
  batch& batch_of(slot_index i) const noexcept { return *reinterpret_cast<batch*>(space_[i].payload); }

  void receive(slot_index b) noexcept {
    slot_index top = inbound_.load(relaxed);
    do {
      batch_of(b).next = top;
    } while (!inbound_.compare_exchange_weak(top, b, release, relaxed));  // pairs with the exchange in refill()
  }
  void refill();
  void make_room();

  static constexpr std::size_t first_room = 256;
  /// take() prefetches the slot that it returns so many calls later: another worker may have ended the task there. As
  /// many null pointers are at the bottom of the stack.
  static constexpr std::ptrdiff_t ahead = 3;

  slot_space& space_;
  std::unique_ptr<task*[]> stack_ =
      std::make_unique<task*[]>(ahead + first_room);  // from `ahead` to end_: the free slots
  task** end_ = stack_.get() + ahead;
  task** limit_ = end_ + first_room;
  slot_index outgoing_ = 0;
  std::uint16_t outgoing_owner_ = 0;
  std::uint16_t seat_;
  /// Batches from other seats: any thread pushes, the seat takes all at once.
  alignas(false_sharing_range) atomic<slot_index> inbound_{0};
};

}  // namespace kith
