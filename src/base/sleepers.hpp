// The set of sleeping workers, and the means to wake them. docs/sleep.md has the protocol and the argument.
//
// A worker that found no work calls announce(), looks once more, and then calls either retract() or sleep(). A
// thread that makes work visible calls wake_one() afterwards. Invariants:
//  S1  Only the worker itself sets its bit, in announce(); any thread may clear it, in take().
//  S2  The thread that clears a set bit must see to the wake: a waker stores to the worker's word; the worker itself is
//      awake.
//  S3  Either the look after announce() sees work that was made visible before wake_one(), or wake_one() sees
//      the bit: process_fence() in announce() pairs with frequent_fence() in wake_one().
//  S4  The count is never below the number of set bits: it is raised before a bit is set, and lowered after a
//      bit was cleared.
//
// With more workers than cores, a wake would only take the core from another worker. So there may be a bound: while
// that many workers are awake, wake_one() notes that a wake is owed, and one of the sleepers, the watcher, delivers it
// later. docs/sleep.md says when it wakes workers.
//  S5  If a wake is owed, either a worker that is awake has yet to announce itself, or there is a watcher, or the
//      thread that owes the wake sees that there is none and makes a sleeper the watcher: frequent_fence() in
//      defer_wake_of() and defer_wake() pairs with process_fence() in resign_as_watcher(). A worker that is named as
//      the watcher resigns when it does not sleep.
//  S6  A worker clears a wake that is owed to all workers before its last look, and owes it again if it then finds
//      something.
#pragma once

#include "base/atomic.hpp"
#include "base/fence.hpp"
#include "base/futex.hpp"
#include "base/worker_set.hpp"

#include <algorithm>
#include <bit>
#include <memory>

namespace kith {

/// Why a worker was woken.
enum class wake_reason : std::uint32_t {
  none,
  work,  // one worker was woken, for work that others could take too
  all,   // this worker was meant, or all workers were woken
  watch  // the worker continues to sleep, as the watcher
};

class sleepers {
 public:
  explicit sleepers(int workers)
      : workers_(workers),
        words_((static_cast<std::size_t>(workers) + 63) / 64),
        everybody_(worker_set::all(workers)),
        parked_(new line[words_]),
        spots_(new spot[static_cast<std::size_t>(workers)]) {}

  /// wake_one() wakes none while `most` workers or more are awake; 0: no bound. Called before all else.
  void bound(int most) noexcept { most_ = most < workers_ ? most : 0; }

  bool has_bound() const noexcept { return most_ != 0; }
  /// For a worker that will begin with sleep(), without a look. Called before anything is made visible to workers.
  void begin_asleep(worker_id w) noexcept {
    count_.fetch_add(1, relaxed);
    word_of(w).fetch_or(bit_of(w), release);  // pairs with take()
  }

  // ---- the worker itself

  /// Called by a worker that is about to sleep. It must look for work once more after this call. `surplus`: what
  /// is_surplus() has returned.
  void announce(worker_id w, bool surplus = false) noexcept {
    spots_[w.index()].awake.store(0, relaxed);
    if (most_ != 0) clear_owed(w);
    count_.fetch_add(1, relaxed);
    if (surplus) leaving_.fetch_sub(1, relaxed);
    word_of(w).fetch_or(bit_of(w), release);  // orders the reset and the count (S4) before it; pairs with take()
    process_fence();                          // S3: pairs with frequent_fence() in wake_one()
  }

  /// Called by an announced worker that has found something. False if another thread has already woken it: that wake
  /// may have been for other work, so the caller must pass it on (wake_all).
  bool retract(worker_id w) noexcept {
    const bool was_parked = take(w);
    if (most_ != 0) {
      if (spots_[w.index()].cleared_owed) defer_wake(owed_to_all);  // S6
      wakes_up(w);
    }
    return was_parked;
  }

  /// Sleeps until woken. Returns with the bit cleared. A worker that was woken for work and does not take it
  /// must pass the wake on.
  wake_reason sleep(worker_id w) noexcept {
    return sleep(w, false, [] { return true; });  // there is no bound
  }

  /// The same, with a bound. Where a wake is owed, the watcher calls `idle` periodically, and wakes workers if it
  /// returns true, or has returned false for long. `left_some`: the worker leaves work that it may take later.
  template <class Idle>
  wake_reason sleep(worker_id w, bool left_some, const Idle& idle) noexcept {
    spot& mine = spots_[w.index()];
    if (most_ != 0) {
      if (left_some) defer_wake(owed_to_all);
      if (!enough_awake()) wake_one_named();
    }
    std::uint32_t why = 0;
    while ((why = mine.awake.load(acquire)) == 0 || why == watch) {  // acquire: pairs with the store in wake_sleeper()
      if (why == watch) mine.awake.compare_exchange_strong(why, 0, relaxed, relaxed);
      if (most_ != 0 && is_watcher(w)) {
        keep_watch(mine, idle);
      } else {
        futex_wait(mine.awake, 0);
      }
    }
    take(w);  // the waker has cleared it (S2), unless a late wake of an earlier sleep has ended this one
    if (most_ != 0) wakes_up(w);
    return static_cast<wake_reason>(why);
  }

  /// Called by a worker that was woken for work and has found some: there may be more.
  void found_work() noexcept {
    if (most_ != 0 && count_.load(relaxed) != 0) defer_wake(owed_more);
  }

  // ---- any thread

  /// Whether more workers are awake than the bound allows, and the caller is one of those that are to sleep: it must
  /// then call announce() or cancel_leave(). May return false to some of the surplus workers at first.
  bool is_surplus() noexcept {
    if (most_ == 0 || awake() - leaving_.load(relaxed) <= most_) return false;
    if (awake() - leaving_.fetch_add(1, relaxed) > most_) return true;
    cancel_leave();
    return false;
  }
  /// Called by a worker for which is_surplus() was true, and which does not sleep after all.
  void cancel_leave() noexcept { leaving_.fetch_sub(1, relaxed); }
  /// Whether as many workers are awake as the bound allows.
  bool enough_awake() const noexcept { return most_ != 0 && awake() >= most_; }
  /// How many sleeping workers wake_one() would wake at present.
  std::uint32_t wakeable() const noexcept {
    const std::uint32_t asleep = count_.load(relaxed);
    if (most_ == 0) return asleep;
    return std::min(asleep, static_cast<std::uint32_t>(std::max(0, most_ - awake())));
  }

  /// Wakes one parked worker of the audience, if the bound allows it. Must be called after the work is visible. True if
  /// a worker was woken.
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
    return wake_sleeper(w, wake_reason::all);
  }

  /// Whether the bits of all workers are set. The caller must know that all of them have called announce().
  bool all_announced() const noexcept {
    int bits = 0;
    for (std::size_t i = 0; i < words_; ++i) bits += std::popcount(parked_[i].bits.load(relaxed));
    return bits == workers_;
  }

  void wake_all() noexcept {
    frequent_fence();  // S3
    for (int w = 0; w < workers_; ++w) wake_sleeper(worker_id(w), wake_reason::all);
  }

 private:
  struct alignas(false_sharing_range) line {
    atomic<std::uint64_t> bits{0};
    atomic<std::uint64_t> owed{0};  // workers that are to be woken when there is a core for them
  };
  struct alignas(false_sharing_range) spot {
    atomic<std::uint32_t> awake{0};  // a wake_reason
    bool cleared_owed = false;       // the worker's own: whether a wake was owed when it announced itself
  };

  static constexpr auto watch = static_cast<std::uint32_t>(wake_reason::watch);
  static constexpr std::uint32_t owed_to_all = 1, owed_more = 2;  // owed_more: the last one that was woken found work

  bool wake_one_of(const worker_set& audience) noexcept {
    const bool enough = enough_awake();
    for (std::size_t i = 0; i < words_; ++i) {
      std::uint64_t candidates = without_watcher(parked_[i].bits.load(relaxed) & audience.word(i), i);
      if (candidates != 0 && enough && defer_wake_of(candidates, i, audience)) return false;
      while (candidates != 0) {
        const worker_id w(static_cast<int>(i * 64) + std::countr_zero(candidates));
        if (wake_sleeper(w, wake_reason::work)) return true;
        candidates &= candidates - 1;
      }
    }
    return false;
  }

  // ---- the bound

  int awake() const noexcept { return workers_ - static_cast<int>(count_.load(relaxed)); }

  /// Leaves the watcher out if there are other candidates: it is woken last, so that it remains the watcher.
  std::uint64_t without_watcher(std::uint64_t candidates, std::size_t i) const noexcept {
    const std::uint32_t watcher = most_ != 0 ? watcher_.load(relaxed) : 0;
    if (watcher == 0 || (watcher - 1) / 64 != i) return candidates;
    const std::uint64_t others = candidates & ~(std::uint64_t{1} << (watcher - 1) % 64);
    return others != 0 ? others : candidates;
  }

  /// Notes that a wake is owed. False if there is no watcher, and none could be made (S5).
  bool defer_wake_of(std::uint64_t candidates, std::size_t i, const worker_set& audience) noexcept {
    if (is_everybody(audience)) {
      if (owed_.load(relaxed) == 0) owed_.store(owed_to_all, relaxed);
    } else if ((parked_[i].owed.load(relaxed) & candidates) == 0) {
      parked_[i].owed.fetch_or(candidates & -candidates, relaxed);
    }
    frequent_fence();  // S5
    return watcher_.load(relaxed) != 0 || appoint_watcher();
  }
  bool is_everybody(const worker_set& audience) const noexcept {
    for (std::size_t i = 0; i < words_; ++i) {
      if (audience.word(i) != everybody_.word(i)) return false;
    }
    return true;
  }

  /// Notes that a wake is owed to all workers.
  void defer_wake(std::uint32_t what) noexcept {
    if (owed_.load(relaxed) < what) owed_.store(what, relaxed);
    frequent_fence();  // S5
    if (watcher_.load(relaxed) == 0) static_cast<void>(appoint_watcher());
  }
  /// Clears what is owed to all workers, and to this one. Called by a worker that is about to look at everything and
  /// then sleeps.
  void clear_owed(worker_id w) noexcept {
    spots_[w.index()].cleared_owed = owed_.load(relaxed) != 0;
    if (spots_[w.index()].cleared_owed) owed_.store(0, relaxed);
    atomic<std::uint64_t>& owed = parked_[w.index() / 64].owed;
    if ((owed.load(relaxed) & bit_of(w)) != 0) owed.fetch_and(~bit_of(w), relaxed);
  }
  bool is_owed() const noexcept {
    if (owed_.load(relaxed) != 0) return true;
    for (std::size_t i = 0; i < words_; ++i) {
      if (parked_[i].owed.load(relaxed) != 0) return true;
    }
    return false;
  }
  void wake_one_named() noexcept {
    for (std::size_t i = 0; i < words_; ++i) {
      for (std::uint64_t named = parked_[i].owed.load(relaxed); named != 0; named &= named - 1) {
        const worker_id w(static_cast<int>(i * 64) + std::countr_zero(named));
        parked_[i].owed.fetch_and(~bit_of(w), relaxed);
        if (wake_sleeper(w, wake_reason::work)) return;
      }
    }
  }
  void wake_named() noexcept {
    for (std::size_t i = 0; i < words_; ++i) {
      if (parked_[i].owed.load(relaxed) == 0) continue;
      for (std::uint64_t named = parked_[i].owed.exchange(0, relaxed); named != 0; named &= named - 1)
        wake_sleeper(worker_id(static_cast<int>(i * 64) + std::countr_zero(named)), wake_reason::work);
    }
  }
  /// Wakes workers to which a wake is owed: those that were named, and up to `most` others if it is owed to all
  /// workers.
  void wake_owed(int most) noexcept {
    wake_named();
    if (owed_.load(relaxed) == 0) return;
    owed_.store(0, relaxed);
    for (std::size_t i = 0; i < words_; ++i) {
      for (std::uint64_t some = without_watcher(parked_[i].bits.load(relaxed), i); some != 0; some &= some - 1) {
        if (most == 0) return;
        most -= wake_sleeper(worker_id(static_cast<int>(i * 64) + std::countr_zero(some)), wake_reason::work);
      }
    }
  }

  bool is_watcher(worker_id w) const noexcept {
    return watcher_.load(relaxed) == static_cast<std::uint32_t>(w.value) + 1;
  }

  /// Makes a sleeper the watcher, unless there is one. Takes the last sleeper, because the first are woken for work.
  /// False if none sleeps.
  bool appoint_watcher() noexcept {
    for (std::size_t i = words_; i-- > 0;) {
      for (std::uint64_t some = parked_[i].bits.load(relaxed); some != 0;) {
        const int last = 63 - std::countl_zero(some);
        some &= ~(std::uint64_t{1} << last);
        const worker_id w(static_cast<int>(i * 64) + last);
        std::uint32_t nobody = 0;
        if (!watcher_.compare_exchange_strong(nobody, static_cast<std::uint32_t>(w.value) + 1, relaxed, relaxed))
          return true;
        atomic<std::uint32_t>& awake = spots_[w.index()].awake;
        std::uint32_t asleep = 0;
        if (awake.compare_exchange_strong(asleep, watch, relaxed, relaxed) || asleep == watch) {
          futex_wake(awake, 1);
          full_fence();  // S5: pairs with wakes_up(): either the worker sees its name, or this thread its cleared bit
          if ((parked_[i].bits.load(relaxed) & bit_of(w)) != 0) return true;
        }
        std::uint32_t named = static_cast<std::uint32_t>(w.value) + 1;  // it was woken meanwhile
        watcher_.compare_exchange_strong(named, 0, relaxed, relaxed);
      }
    }
    return false;
  }
  /// Called when the worker's bit has been cleared.
  void wakes_up(worker_id w) noexcept {
    full_fence();  // S5: pairs with appoint_watcher()
    if (is_watcher(w)) resign_as_watcher();
  }
  void resign_as_watcher() noexcept {
    watcher_.store(0, relaxed);
    process_fence();  // S5: pairs with frequent_fence() in defer_wake_of() and defer_wake()
    if (is_owed()) static_cast<void>(appoint_watcher());
  }

  /// The sleep of the watcher. Returns when it is woken, or when nothing was owed for some periods: then the worker
  /// continues to sleep like any other, so that an idle runtime never wakes up.
  template <class Idle>
  void keep_watch(spot& mine, const Idle& idle) noexcept {
    idle();  // the first period begins here
    int wakes = 1, period = 1, busy = 0;
    for (int quiet = 0; quiet < most_quiet && mine.awake.load(relaxed) == 0;) {
      futex_wait_for(mine.awake, 0, std::int64_t{period} * 1'000'000);  // milliseconds
      const bool cores_are_idle = idle();
      if (!is_owed()) {
        ++quiet;
        wakes = period = 1;
        continue;
      }
      quiet = 0;
      // Tasks may keep the cores busy while they wait for a task that no worker runs.
      if (!cores_are_idle && ++busy < most_busy) {
        period = std::min(2 * period, longest_period);
        continue;
      }
      busy = 0;
      wakes = owed_.load(relaxed) == owed_more ? std::min(2 * wakes, workers_) : 1;
      wake_owed(wakes);
      period = 1;
    }
    resign_as_watcher();
  }
#ifdef KITH_INTERLEAVE
  static constexpr int most_quiet = 1;
#else
  static constexpr int most_quiet = 4;
#endif
  static constexpr int longest_period = 4;  // ms
  static constexpr int most_busy = 8;       // periods

  // ---- bits and words

  static std::uint64_t bit_of(worker_id w) noexcept { return std::uint64_t{1} << (w.index() % 64); }
  atomic<std::uint64_t>& word_of(worker_id w) noexcept { return parked_[w.index() / 64].bits; }

  /// Clears the worker's bit; true for exactly one of the threads that try. acquire: pairs with announce(); the reset
  /// of the word there must not come after this thread's store.
  bool take(worker_id w) noexcept {
    if ((word_of(w).load(relaxed) & bit_of(w)) == 0) return false;
    if ((word_of(w).fetch_and(~bit_of(w), acquire) & bit_of(w)) == 0) return false;
    count_.fetch_sub(1, relaxed);
    return true;
  }

  bool wake_sleeper(worker_id w, wake_reason why) noexcept {
    if (!take(w)) return false;
    spot& theirs = spots_[w.index()];
    theirs.awake.store(static_cast<std::uint32_t>(why),
                       release);  // pairs with the load in sleep(): the woken worker sees what this thread did before
    futex_wake(theirs.awake, 1);
    return true;
  }

  int workers_;
  int most_ = 0;  // the bound
  std::size_t words_;
  worker_set everybody_;
  std::unique_ptr<line[]> parked_;
  std::unique_ptr<spot[]> spots_;
  alignas(false_sharing_range) atomic<std::uint32_t> count_{0};  // at least the number of set bits; read on every push
  atomic<std::uint32_t> watcher_{0};                             // its number plus one
  atomic<int> leaving_{0};                                       // surplus workers that have yet to announce themselves
  atomic<std::uint32_t> owed_{0};                                // what is owed to all workers
};

}  // namespace kith
