// Who sleeps, and how they are woken. docs/sleep.md has the protocol and the argument.
//
// A worker that found nothing calls announce(), looks once more, and then either retract()s or sleep()s. Whoever makes
// work visible calls wake_one() after it. Invariants:
//  S1  A worker's bit is set only by the worker itself, in announce(), and cleared by whoever takes it.
//  S2  Who clears a set bit owes the worker a wake: the word becomes 1 (waker), or the worker is awake (itself).
//  S3  Work made visible before wake_one() is seen by the look after announce(), or wake_one() sees the bit:
//      process_fence() in announce() pairs with frequent_fence() in wake_one().
//  S4  The count is never below the number of bits: it is raised before a bit is set, and lowered after one was taken.
#pragma once

#include "base/atomic.hpp"
#include "base/fence.hpp"
#include "base/futex.hpp"
#include "base/worker_set.hpp"

#include <bit>
#include <memory>

namespace kith {

/// Why a worker was woken.
enum class wake_reason : std::uint32_t {
  none,
  work,  // one worker was woken, for work that others could take as well
  all,   // the worker was meant, or everybody was woken
};

class sleepers {
 public:
  explicit sleepers(int workers)
      : workers_(workers),
        words_((static_cast<std::size_t>(workers) + 63) / 64),
        parked_(new line[words_]),
        spots_(new spot[static_cast<std::size_t>(workers)]) {}

  // ---- the worker itself

  /// "I am about to sleep." The caller looks for work once more after it.
  void announce(worker_id w) noexcept {
    spots_[w.index()].awake.store(0, relaxed);
    count_.fetch_add(1, relaxed);
    word_of(w).fetch_or(bit_of(w), release);  // the reset and the count (S4) come first; pairs with take()
    process_fence();                          // S3: pairs with frequent_fence() in wake_one()
  }

  /// "I found something." False if somebody has woken the caller already: that wake may have been meant for other work,
  /// and the caller must pass it on (wake_all).
  bool retract(worker_id w) noexcept { return take(w); }

  /// Sleeps until woken. Returns with the bit cleared. Who was woken for work and leaves it must pass the wake on.
  wake_reason sleep(worker_id w) noexcept {
    spot& mine = spots_[w.index()];
    while (mine.awake.load(acquire) == 0) futex_wait(mine.awake, 0);  // acquire: pairs with the store in rouse()
    take(w);  // already cleared by the waker (S2), unless an old wake of an earlier sleep came late
    return static_cast<wake_reason>(mine.awake.load(relaxed));
  }

  // ---- everybody

  /// Wakes one parked worker of the audience. To be called after the work is visible. True if somebody was woken.
  [[gnu::always_inline]] bool wake_one(const worker_set& audience) noexcept {
    frequent_fence();  // S3
    return count_.load(relaxed) != 0 && wake_one_of(audience);
  }

  /// Whether there is anybody to wake: as the first look of wake_one().
  bool anybody() const noexcept {
    frequent_fence();  // S3
    return count_.load(relaxed) != 0;
  }

  /// Wakes this worker if it is parked. To be called after what it waits for is visible.
  bool wake(worker_id w) noexcept {
    frequent_fence();  // S3
    return rouse(w, wake_reason::all);
  }

  /// Whether all workers are about to sleep, or do: those that the caller knows to have announced themselves.
  bool all_announced() const noexcept {
    int bits = 0;
    for (std::size_t i = 0; i < words_; ++i) bits += std::popcount(parked_[i].bits.load(relaxed));
    return bits == workers_;
  }

  void wake_all() noexcept {
    frequent_fence();  // S3
    for (int w = 0; w < workers_; ++w) rouse(worker_id(w), wake_reason::all);
  }

 private:
  bool wake_one_of(const worker_set& audience) noexcept {
    for (std::size_t i = 0; i < words_; ++i) {
      std::uint64_t candidates = parked_[i].bits.load(relaxed) & audience.word(i);
      while (candidates != 0) {
        const worker_id w(static_cast<int>(i * 64) + std::countr_zero(candidates));
        if (rouse(w, wake_reason::work)) return true;
        candidates &= candidates - 1;
      }
    }
    return false;
  }

  struct alignas(false_sharing_range) line {
    atomic<std::uint64_t> bits{0};
  };
  struct alignas(false_sharing_range) spot {
    atomic<std::uint32_t> awake{0};  // a wake_reason
  };

  static std::uint64_t bit_of(worker_id w) noexcept { return std::uint64_t{1} << (w.index() % 64); }
  atomic<std::uint64_t>& word_of(worker_id w) noexcept { return parked_[w.index() / 64].bits; }

  /// Clears the worker's bit; true for exactly one of those who try. acquire: pairs with announce(), whose reset of the
  /// word must not come after our store to it.
  bool take(worker_id w) noexcept {
    if ((word_of(w).load(relaxed) & bit_of(w)) == 0) return false;
    if ((word_of(w).fetch_and(~bit_of(w), acquire) & bit_of(w)) == 0) return false;
    count_.fetch_sub(1, relaxed);
    return true;
  }

  bool rouse(worker_id w, wake_reason why) noexcept {
    if (!take(w)) return false;
    spot& theirs = spots_[w.index()];
    theirs.awake.store(static_cast<std::uint32_t>(why),
                       release);  // pairs with the load in sleep(): what we did before is seen by the woken
    futex_wake(theirs.awake, 1);
    return true;
  }

  int workers_;
  std::size_t words_;
  std::unique_ptr<line[]> parked_;
  std::unique_ptr<spot[]> spots_;
  alignas(false_sharing_range) atomic<std::uint32_t> count_{0};  // bits set, or more; read on every push
};

}  // namespace kith
