// Whether a scope is cancelled: it was cancelled itself, or one around it was.
//
// A count of all cancellations tells a scope whether it must look around again. Any thread may call. Invariant:
//  A1  A check that comes after a cancellation sees it, such as the check of each task that the cancelling thread
//      creates later, even where several workers check one scope at a time.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

namespace kith::detail {

class cancellation {
 public:
  using counter = atomic<std::uint64_t>;  // begins with 1, because `clear_at_` begins with 0

  /// Whether it is set. Takes one comparison if not, unless something was cancelled since the last call. Otherwise
  /// calls `look`, which must call look_around() and return its result.
  template <class Look>
  bool is_set(const counter& all, const Look& look) const noexcept {
    return clear_at_.load(relaxed) != all.load(relaxed) && look();
  }
  /// `around(visit)` must call visit(const cancellation&) for each scope around this one, the nearest first, until
  /// visit returns true.
  template <class Around>
  bool look_around(const counter& all, const Around& around) const noexcept {
    const std::uint64_t now = all.load(acquire);  // pairs with set()
    if (set_.load(relaxed)) return true;
    bool found = false;
    around([&](const cancellation& c) {
      found = c.set_.load(relaxed);
      return found || c.clear_at_.load(relaxed) == now;  // it has looked around itself
    });
    if (found) {
      set_.store(true, relaxed);
    } else {
      clear_at_.store(now, relaxed);
    }
    return found;
  }

  void set(counter& all) noexcept {
    set_.store(true, relaxed);
    all.fetch_add(1, release);  // pairs with look_around(): a thread that sees the count sees the flag
  }
  /// Takes the place of another one, which was set if `before`.
  void take_place_of(bool before) noexcept {
    if (before) set_.store(true, relaxed);
    clear_at_.store(0, relaxed);
  }
  void clear() noexcept {
    set_.store(false, relaxed);
    clear_at_.store(0, relaxed);  // a scope around it may still be cancelled
  }

 private:
  mutable atomic<bool> set_{false};
  mutable atomic<std::uint64_t> clear_at_{0};  // the count at the last look around that found nothing
};

}  // namespace kith::detail
