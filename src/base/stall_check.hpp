// The last worker to sleep detects that all workers sleep: then no worker will push, so held-back tasks would stay held
// back.
//
// Workers sleep through it if there is a gate. docs/sleep.md has the argument. Invariants:
//  A1  A worker is counted from just before its sleep until just after. While it is counted, it makes nothing visible
//      and wakes no worker, except the last one while it calls `stalled`.
//  A2  The count holds how many workers sleep, and how often one has left. Two epochs have the same value only
//      if no worker left in between.
//  A3  If all are counted and all have their bit set, each has looked in vain after all pushes. A worker that was rung
//      for work since then has lost its bit (S1, S2 of sleepers.hpp), and one that has it again has looked again.
#pragma once

#include "base/sleepers.hpp"

namespace kith {

class stall_check {
 public:
  explicit stall_check(int workers) : workers_(static_cast<std::uint32_t>(workers)) {}

  /// The value of the count when a worker saw that all sleep.
  using sleep_epoch = std::uint64_t;

  /// As sleepers::sleep(), for an announced worker that has looked in vain. The last worker to sleep calls
  /// stalled(epoch). That may take tasks that are held back, and must return true if there is then work to do; all
  /// workers are then woken. If it throws, the worker no longer counts as asleep, but is still announced.
  template <class Stalled>
  wake_reason sleep(worker_id w, sleepers& parked, Stalled&& stalled) {
    const counted_sleep here(asleep_);
    if (static_cast<std::uint32_t>(here.began) == workers_ && awaiting_.load(relaxed) == 0 && parked.all_announced() &&
        lasts(here.began) && stalled(here.began))
      parked.wake_all();
    return parked.sleep(w);
  }

  /// Whether no worker has left its sleep since `m`. If so, what the caller saw before this call was there
  /// while all slept: a worker that was woken from elsewhere and pushed it would have left before the push, and
  /// the lock under which the caller saw it orders the two.
  bool lasts(sleep_epoch m) const noexcept { return asleep_.load(relaxed) == m; }

  /// Called by a worker before and after a wait for something that threads other than workers may complete: meanwhile,
  /// nothing can be concluded.
  void begin_awaiting() noexcept { awaiting_.fetch_add(1, relaxed); }
  void end_awaiting() noexcept { awaiting_.fetch_sub(1, relaxed); }

 private:
  static constexpr sleep_epoch one = 1, left = (std::uint64_t{1} << 32) - one;

  /// A sleep of one worker (A1).
  struct counted_sleep {
    // acq_rel: pairs with that of the other workers; the last one sees all that they did before they slept.
    explicit counted_sleep(atomic<sleep_epoch>& asleep) noexcept
        : count(asleep), began(asleep.fetch_add(one, acq_rel) + one) {}
    ~counted_sleep() { count.fetch_add(left, relaxed); }
    counted_sleep(const counted_sleep&) = delete;
    counted_sleep& operator=(const counted_sleep&) = delete;

    atomic<sleep_epoch>& count;
    const sleep_epoch began;
  };

  const std::uint32_t workers_;
  // Low 32 bits: workers asleep. High 32 bits: number of wake-ups, so that no value repeats.
  alignas(false_sharing_range) atomic<sleep_epoch> asleep_{0};
  // Workers blocked on a future. Raised before sleeping, so that the acq_rel on `asleep_` orders it.
  atomic<std::uint32_t> awaiting_{0};
};

}  // namespace kith
