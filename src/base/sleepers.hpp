// Which workers sleep, and how they are woken. docs/sleep.md has the protocol and the argument.
//
// A worker that found no work calls announce(), looks once more, and then calls either retract() or sleep(). A
// thread that makes work visible calls wake_one() afterwards. Invariants:
//  S1  Only the worker itself sets its bit, in announce(); any thread may clear it, in take().
//  S2  The thread that clears a set bit owes the worker a wake: a waker stores to the worker's word; the worker
//      itself is awake.
//  S3  Either the look after announce() sees work that was made visible before wake_one(), or wake_one() sees
//      the bit: process_fence() in announce() pairs with frequent_fence() in wake_one().
//  S4  The count is never below the number of set bits: it is raised before a bit is set, and lowered after a
//      bit was cleared.
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
  work,  // one worker was woken, for work that others could take too
  all,   // this worker was meant, or all workers were woken
};

class sleepers {
 public:
  explicit sleepers(int workers)
      : workers_(workers),
        words_((static_cast<std::size_t>(workers) + 63) / 64),
        parked_(new line[words_]),
        spots_(new spot[static_cast<std::size_t>(workers)]) {}

  // ---- the worker itself

  /// The worker is about to sleep. It must look for work once more after this call.
  void announce(worker_id w) noexcept {
    spots_[w.index()].awake.store(0, relaxed);
    count_.fetch_add(1, relaxed);
    word_of(w).fetch_or(bit_of(w), release);  // orders the reset and the count (S4) before it; pairs with take()
    process_fence();                          // S3: pairs with frequent_fence() in wake_one()
  }

  /// The worker has found something. False if another thread has already woken it: that wake may have been for
  /// other work, so the caller must pass it on (wake_all).
  bool retract(worker_id w) noexcept { return take(w); }

  /// Sleeps until woken. Returns with the bit cleared. A worker that was woken for work and does not take it
  /// must pass the wake on.
  wake_reason sleep(worker_id w) noexcept {
    spot& mine = spots_[w.index()];
    while (mine.awake.load(acquire) == 0) futex_wait(mine.awake, 0);  // acquire: pairs with the store in rouse()
    take(w);  // the waker has cleared it (S2), unless a late wake of an earlier sleep has ended this one
    return static_cast<wake_reason>(mine.awake.load(relaxed));
  }

  // ---- any thread

  /// Wakes one parked worker of the audience. Must be called after the work is visible. True if a worker was woken.
  [[gnu::always_inline]] bool wake_one(const worker_set& audience) noexcept {
    frequent_fence();  // S3
    return count_.load(relaxed) != 0 && wake_one_of(audience);
  }

  /// Whether any worker may be parked; the same check as in wake_one().
  bool anybody() const noexcept {
    frequent_fence();  // S3
    return count_.load(relaxed) != 0;
  }

  /// About how many workers are parked.
  std::uint32_t count() const noexcept { return count_.load(relaxed); }

  /// Wakes this worker if it is parked. Must be called after what it waits for is visible.
  bool wake(worker_id w) noexcept {
    frequent_fence();  // S3
    return rouse(w, wake_reason::all);
  }

  /// Whether the bits of all workers are set. The caller must know that all of them have called announce().
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

  /// Clears the worker's bit; true for exactly one of the threads that try. acquire: pairs with announce(); its
  /// reset of the word must not come after our store.
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
                       release);  // pairs with the load in sleep(): the woken worker sees what we did before
    futex_wake(theirs.awake, 1);
    return true;
  }

  int workers_;
  std::size_t words_;
  std::unique_ptr<line[]> parked_;
  std::unique_ptr<spot[]> spots_;
  alignas(false_sharing_range) atomic<std::uint32_t> count_{0};  // at least the number of set bits; read on every push
};

}  // namespace kith
