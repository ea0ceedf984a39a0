// Where threads of a team block for what another thread of it does, without running tasks.
#pragma once

#include "base/atomic.hpp"
#include "base/futex.hpp"

#include <cstdint>
#include <limits>

#ifndef KITH_INTERLEAVE
#include <thread>
#endif

namespace kith::openmp {

class blocked_threads {
 public:
  /// Returns once done(), which must read with acquire. Spins, yields the core, then sleeps.
  template <class Done>
  void wait_until(const Done& done) noexcept {
#ifndef KITH_INTERLEAVE  // the checker's pause() returns only after a change, which would hide the sleep
    constexpr int pauses = 256, yields = 64;
    for (int i = 0; i < pauses + yields; ++i) {
      if (done()) return;
      if (i < pauses) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
#endif
    sleeping_.fetch_add(1, relaxed);
    full_fence();  // pairs with wake(): either done() holds below, or wake() sees this thread
    for (;;) {
      const std::uint32_t before = wakes_.load(acquire);  // pairs with wake(): done() sees what was done before
      if (done()) break;
      futex_wait(wakes_, before);
    }
    sleeping_.fetch_sub(1, relaxed);
  }

  /// Lets all of them look again. Called after what makes a done() true was written, with release.
  void wake() noexcept {
    full_fence();  // pairs with wait_until()
    if (sleeping_.load(relaxed) == 0) return;
    wakes_.fetch_add(1, release);  // pairs with wait_until()
    futex_wake(wakes_, std::numeric_limits<int>::max());
  }

 private:
  atomic<int> sleeping_{0};
  atomic<std::uint32_t> wakes_{0};
};

}  // namespace kith::openmp
