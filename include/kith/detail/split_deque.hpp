// A deque of entries whose owner's part is private, so that the owner pushes and pops there without a fence.
//
// The newest entries are private, the oldest public. Thieves take the oldest public entry. A thief asks for more when
// it takes one, or finds none; the owner sees that at its next push, and makes the older half of its private entries
// public, at each push until enough are. The idea of the split is that of van Dijk and van de Pol, "Lace: non-blocking
// split deque for work-stealing", Euro-Par 2014 workshops. Entries are popped in the opposite order of their pushes,
// each at the slot where it was pushed; a stolen entry keeps its slot until the owner calls settle(). The slots are a
// fixed array; when it is full, nothing can be pushed. Who may call what: the owner (one thread at a time) pushes,
// pops, takes back and settles; any thread steals. Invariants:
//  P1  The slots tail..split-1 are public; those from split to the owner's head are private. One word has tail and
//      split, so every change of it is decided by one atomic operation.
//  P2  Only the owner changes split. Thieves only add 1 to tail, while it is below split. An owner that finds its
//      newest entry stolen knows that all older ones are stolen, too.
//  P3  A thief reads a slot before it moves tail past it. The word counts how often the owner has lowered split: if
//      the owner may have written to the slot since the thief read the word, the thief's change of it fails.
//  P4  If fewer entries than `least` are public, the owner was asked for more, or will be by the thief that took the
//      last one. So the oldest entries are public, even if no thief has looked yet.
#pragma once

#include <atomic>
#include <cstdint>

namespace kith::detail {

template <class T, template <class> class Atomic = std::atomic>
class split_deque {
 public:
  using slot_pointer = Atomic<T*>*;

  /// At least `least` entries are kept public, if the deque has that many. 0: none ever is, because there are no
  /// thieves. REQUIRES: the slots outlive the deque, and there are fewer than 65536.
  constexpr split_deque(slot_pointer slots, std::uint32_t capacity, std::uint32_t least) noexcept
      : head_(slots),
        split_(slots),
        slots_(slots),
        end_(slots + capacity),
        least_(least),
        limit_(least != 0 ? nullptr : end_) {}
  split_deque(const split_deque&) = delete;
  split_deque& operator=(const split_deque&) = delete;

  // ---- the owner

  /// Where the next entry goes.
  [[gnu::always_inline]] slot_pointer top() const noexcept { return head_; }
  /// Pushes at top(); the entry is private. False, and nothing is done, if the owner was asked for entries, or the
  /// deque is full: push_public() comes next.
  [[nodiscard, gnu::always_inline]] bool push(slot_pointer at, T& entry) noexcept {
    if (at >= limit_.load(std::memory_order_relaxed)) [[unlikely]]
      return false;
    at->store(&entry, std::memory_order_relaxed);
    head_ = at + 1;
    return true;
  }
  /// True if the entry of this slot, which is the newest, was private: the owner takes it.
  [[nodiscard, gnu::always_inline]] bool pop(slot_pointer at) noexcept {
    head_ = at;
    return at >= split_;
  }
  /// Called after push() has returned false: pushes at top(), and makes the older half of the private entries public.
  /// Calls prepare(entry, slot) for each of them before. The next push does the same, unless `wanted` entries are
  /// public then. False if the deque is full. Otherwise the caller must wake a thief.
  template <class Prepare>
  [[nodiscard]] bool push_public(T& entry, std::uint32_t wanted, const Prepare& prepare) noexcept {
    const slot_pointer at = head_;
    if (at == end_) return false;
    at->store(&entry, std::memory_order_relaxed);
    head_ = at + 1;
    limit_.store(end_, std::memory_order_relaxed);
    const slot_pointer to = split_ + (head_ - split_ + 1) / 2;
    for (slot_pointer p = split_; p != to; ++p) prepare(*p->load(std::memory_order_relaxed), p);
    const auto offered = static_cast<std::uint64_t>(to - split_);
    split_ = to;
    // release: pairs with steal(), which sees the entries.
    const std::uint64_t before = word_.fetch_add(offered << 16, std::memory_order_release);
    if (split_of(before) + offered - tail_of(before) < (wanted > least_ ? wanted : least_)) ask();  // P4
    return true;
  }
  /// Called after pop() has returned false. True if the entry was not stolen: the owner takes it, and makes the newer
  /// half of the other public entries private. Calls withdraw(entry) for it and for these. False if a thief has it:
  /// the caller must then wait for the thief, and call settle().
  template <class Withdraw>
  [[nodiscard]] bool take_back(slot_pointer at, const Withdraw& withdraw) noexcept {
    const auto mine = static_cast<std::uint32_t>(at - slots_);
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    std::uint32_t split = 0;
    do {
      if (tail_of(seen) > mine) {
        head_ = at + 1;  // the slot is not free yet
        return false;
      }
      split = tail_of(seen) + (mine - tail_of(seen)) / 2;
    } while (!word_.compare_exchange_weak(seen, word_of(epoch_of(seen) + 1, tail_of(seen), split),
                                          std::memory_order_relaxed, std::memory_order_relaxed));
    split_ = slots_ + split;
    for (slot_pointer p = split_; p <= at; ++p) withdraw(*p->load(std::memory_order_relaxed));
    if (split - tail_of(seen) < least_) ask();  // P4
    return true;
  }
  /// Called when all entries from this slot on, and all older ones, were stolen: the slots from here on are used again.
  void settle(slot_pointer at) noexcept {
    const auto free = static_cast<std::uint32_t>(at - slots_);
    head_ = split_ = at;
    const std::uint32_t epoch = epoch_of(word_.load(std::memory_order_relaxed));
    // No thief changes it while nothing is public.
    word_.store(word_of(epoch + 1, free, free), std::memory_order_relaxed);
    ask();  // P4
  }
  bool empty() const noexcept { return head_ == slots_; }

  // ---- any thread

  struct [[nodiscard]] stolen {
    T* entry = nullptr;  // null: there was none, or another thread was faster
    bool more = false;   // further ones are public
  };
  /// Takes the oldest public entry, and asks the owner for more. REQUIRES: `least` is not 0.
  stolen steal() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_acquire);  // pairs with push_public()
    const std::uint32_t tail = tail_of(seen), split = split_of(seen);
    ask();
    if (tail >= split) return {};
    T* const entry = slots_[tail].load(std::memory_order_relaxed);  // P3
    if (!word_.compare_exchange_strong(seen, seen + 1, std::memory_order_relaxed, std::memory_order_relaxed))
      return {nullptr, true};
    return {entry, tail + 1 < split};
  }

 private:
  static constexpr std::uint32_t tail_of(std::uint64_t word) noexcept { return word & 0xffff; }
  static constexpr std::uint32_t split_of(std::uint64_t word) noexcept { return (word >> 16) & 0xffff; }
  static constexpr std::uint32_t epoch_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint64_t word_of(std::uint32_t epoch, std::uint32_t tail, std::uint32_t split) noexcept {
    return std::uint64_t{epoch} << 32 | split << 16 | tail;
  }
  void ask() noexcept {
    if (limit_.load(std::memory_order_relaxed) != nullptr) limit_.store(nullptr, std::memory_order_relaxed);
  }

  slot_pointer head_;   // where the next entry goes; used by the owner
  slot_pointer split_;  // the owner's copy of split
  const slot_pointer slots_, end_;
  const std::uint32_t least_;
  // Where push() stops: end_; or null, if the owner was asked. Thieves write it, so it is on a line of its own.
  alignas(128) Atomic<slot_pointer> limit_;
  alignas(128) Atomic<std::uint64_t> word_{0};  // P1, P3: from the lowest bits tail, split, epoch
};

}  // namespace kith::detail
