// The last worker to sleep finds out that all do: then nobody will push, and what is held back is held back for good.
//
// Workers sleep through it, where somebody asks. docs/sleep.md has the argument. Invariants:
//  A1  A worker is counted from before it sleeps until after; while it is counted it makes nothing visible and wakes nobody,
//      but for the last one within its question.
//  A2  The count says how many sleep, and how often one has left: no two moments have the same value unless nobody left between.
//  A3  All are counted, and all have their bit set: each has looked, in vain, after all that was pushed. Whoever was rung for
//      work since has no bit (S1, S2 of sleepers.hpp), and whoever has it again has looked again.
#pragma once

#include "base/sleepers.hpp"

namespace kith {

class stall_check {
 public:
  explicit stall_check(int workers) : workers_(static_cast<std::uint32_t>(workers)) {}

  /// What the count was when a worker saw all sleep.
  using moment = std::uint64_t;

  /// As sleepers::sleep(), for an announced worker that has looked in vain. The last one to sleep asks whether they are stalled:
  /// `stalled` may take what others hold, and is true if that gave them something to do: all are woken. It is told when it was.
  template <class Stalled>
  wake_reason sleep(worker_id w, sleepers& parked, Stalled&& stalled) {
    // acq_rel: whoever slept before, and what it did until then, is seen by the last one.
    const moment now = asleep_.fetch_add(one, acq_rel) + one;
    if (static_cast<std::uint32_t>(now) == workers_ && awaiting_.load(relaxed) == 0 && parked.all_announced() &&
        lasts(now) && stalled(now))
      parked.wake_all();
    const wake_reason why = parked.sleep(w);
    asleep_.fetch_add(left, relaxed);
    return why;
  }

  /// Nobody has left its sleep since. What was seen before this was there while all slept: whoever was woken from elsewhere,
  /// and pushed it, has left before (the lock that it was seen under orders the two).
  bool lasts(moment m) const noexcept { return asleep_.load(relaxed) == m; }

  /// While somebody waits for what others than the workers may bring, nobody knows. By a worker, before it sleeps, and after.
  void begin_awaiting() noexcept { awaiting_.fetch_add(1, relaxed); }
  void end_awaiting() noexcept { awaiting_.fetch_sub(1, relaxed); }

 private:
  static constexpr moment one = 1, left = (std::uint64_t{1} << 32) - one;

  const std::uint32_t workers_;
  // Low 32 bits: workers asleep. High 32 bits: number of wake-ups, so that no value repeats.
  alignas(false_sharing_range) atomic<moment> asleep_{0};
  // Workers blocked on a future. Raised before sleeping, so that the acq_rel on `asleep_` orders it.
  atomic<std::uint32_t> awaiting_{0};
};

}  // namespace kith
