// A work-stealing deque: the owner works at the bottom, thieves take from the top.
//
// Chase and Lev, "Dynamic circular work-stealing deque", SPAA 2005, with the orderings of Le et al., "Correct and
// efficient work-stealing for weak memory models", PPoPP 2013. Invariants:
//  D1  Entries are at top..bottom-1. Only the owner writes bottom and entries; top only grows.
//  D2  The thread that moves top past an entry by compare-exchange takes it. The owner takes an entry that is
//      not the last one without that.
//  D3  Owner's pop: store bottom, then load top. Thief: load top, then load bottom. Each has a full fence in
//      between, so at least one sees the other's store, and a compare-exchange decides who gets the last entry.
//  D4  Outgrown arrays live as long as the deque, because a thief may still read one. Only the owner makes
//      arrays, except the empty one that the constructor makes.
#pragma once

#include "base/atomic.hpp"
#include "base/prefetch.hpp"
#include "queue/poll_result.hpp"

#include <cstdint>
#include <forward_list>
#include <memory_resource>
#include <vector>

namespace kith::native {

template <class T>
class work_deque {
 public:
  using allocator_type = std::pmr::polymorphic_allocator<>;

  /// `memory` holds the entries. The owner makes the first array at its first push, so that with first-touch
  /// memory it is on the owner's node.
  explicit work_deque(allocator_type memory = std::pmr::new_delete_resource()) : work_deque(256, memory) {}
  /// `capacity` is that of the first array, a power of two.
  explicit work_deque(std::int64_t capacity, allocator_type memory = std::pmr::new_delete_resource())
      : first_capacity_(capacity), arrays_(memory) {
    array_.store(make(0), relaxed);
  }
  work_deque(const work_deque&) = delete;
  work_deque& operator=(const work_deque&) = delete;

  // ---- the owner

  [[gnu::always_inline]] void push(T* entry) {
    if (!has_room()) [[unlikely]]
      make_room();
    push_in_room(entry);
  }
  /// Whether push_in_room() may be called; after make_room() it may.
  bool has_room() const noexcept { return bottom_.load(relaxed) != full_at_; }
  [[gnu::noinline]] void make_room() {
    const std::int64_t b = bottom_.load(relaxed);
    const std::int64_t capacity = mask_ + 1;
    top_seen_ = top_.load(acquire);  // pairs with the exchange in steal(); the owner may overwrite what was read
    if (b - top_seen_ >= capacity) grow(b);
    full_at_ = top_seen_ + mask_ + 1;
  }
  /// As push(). REQUIRES: has_room().
  [[gnu::always_inline]] void push_in_room(T* entry) {
    const std::int64_t b = bottom_.load(relaxed);
    entries_[b & mask_].store(entry, release);  // pairs with the load of the entry in steal()
    bottom_.store(b + 1, release);              // pairs with the load of bottom in steal(): the entry is visible
  }

  [[nodiscard, gnu::always_inline]] T* pop() {
    const std::int64_t b = bottom_.load(relaxed) - 1;
    if (b < top_seen_) return nullptr;  // empty, because top only grows; no fence needed
    bottom_.store(b, release);  // release, here and below: pairs with the load in steal(), which sees entries below b
    full_fence();               // D3: pairs with the fence in steal()
    std::int64_t t = top_.load(relaxed);
    top_seen_ = t;
    T* entry = entries_[b & mask_].load(relaxed);
    if (t >= b) [[unlikely]] {
      // The last one: thieves may take it, too, or have taken it.
      if (t > b || !top_.compare_exchange_strong(t, t + 1, seq_cst, relaxed)) entry = nullptr;
      if (t <= b) top_seen_ = b + 1;
      bottom_.store(b + 1, release);
    }
    return entry;
  }

  // ---- any thread

  steal_result steal(T*& entry) {
    return steal(entry, [](const T&) { return true; });
  }
  /// Takes the oldest entry if wanted(entry). wanted() is called before the entry is taken, so what it reads
  /// must be atomic, and must stay readable after another thread has taken the entry. In that case the exchange
  /// below fails, and the answer does not matter.
  template <class Wanted>
  steal_result steal(T*& entry, Wanted&& wanted) {
    std::int64_t t = top_.load(acquire);
    full_fence();                                  // D3: pairs with the fence in pop()
    const std::int64_t b = bottom_.load(acquire);  // pairs with the store in push()
    if (t >= b) return steal_result::empty;
    array* a = array_.load(acquire);  // pairs with the store in grow()
    // acquire: pairs with the store of the entry in push(). If other threads have advanced top, this may be a newer
    // entry, which this thread's value of bottom does not cover; `wanted` reads it all the same.
    T* candidate = a->at(t).load(acquire);
    // Null: other threads have advanced top, and an array made since then has no entry there.
    if (candidate == nullptr) return steal_result::lost;
    if (!wanted(*candidate)) return steal_result::unwanted;
    prefetch_two_to_write(candidate);  // the thief writes it next; it comes while the exchange waits for its own line
    if (!top_.compare_exchange_strong(t, t + 1, seq_cst, relaxed)) return steal_result::lost;
    entry = candidate;
    return steal_result::got;
  }

  /// The number of entries; may be out of date, but is never negative.
  std::int64_t size() const noexcept {
    const std::int64_t t = top_.load(relaxed);
    const std::int64_t b = bottom_.load(relaxed);
    return b > t ? b - t : 0;
  }
  /// The owner's end: changes whenever the owner pushes or pops.
  std::int64_t bottom() const noexcept { return bottom_.load(relaxed); }

 private:
  struct array {
    using allocator_type = work_deque::allocator_type;
    array(std::int64_t n, allocator_type memory) : capacity(n), entries(static_cast<std::size_t>(n), memory) {}
    atomic<T*>& at(std::int64_t i) noexcept { return entries[static_cast<std::size_t>(i & (capacity - 1))]; }
    const std::int64_t capacity;  // a power of two; 0: no thread reads entries of it
    std::pmr::vector<atomic<T*>> entries;
  };

  array* make(std::int64_t capacity) { return &arrays_.emplace_front(capacity); }
  void grow(std::int64_t b) {
    array& old = *array_.load(relaxed);
    array& bigger = *make(old.capacity == 0 ? first_capacity_ : old.capacity * 2);
    for (std::int64_t i = top_seen_; i < b; ++i) bigger.at(i).store(old.at(i).load(relaxed), relaxed);
    array_.store(&bigger, release);  // pairs with the load in steal()
    entries_ = bigger.entries.data();
    mask_ = bigger.capacity - 1;
  }

  const std::int64_t first_capacity_;
  alignas(false_sharing_range) atomic<std::int64_t> bottom_{0};
  // The owner's copies from the newest array, and its knowledge of top.
  atomic<T*>* entries_ = nullptr;
  std::int64_t mask_ = -1;
  std::int64_t full_at_ = 0;   // while bottom is below it, there is room; never ahead of top + capacity
  std::int64_t top_seen_ = 0;  // the last value of top; never ahead of top
  atomic<array*> array_{nullptr};
  std::pmr::forward_list<array> arrays_;  // the owner's
  alignas(false_sharing_range) atomic<std::int64_t> top_{0};
};

}  // namespace kith::native
