// A mutex for sections of a few instructions: spins briefly, then sleeps (many workers may share one core).
#pragma once

#include "base/atomic.hpp"
#include "base/futex.hpp"

#include <cstdint>

namespace kith {

/// Meets the standard's Lockable, for std::lock_guard. 4 bytes.
class spin_mutex {
 public:
  void lock() noexcept {
    for (int i = 0; i < spins; ++i) {
      if (try_lock()) return;
      pause();
    }
    // acquire: pairs with the exchange in unlock(). `contended` stays set while any thread may sleep.
    while (word_.exchange(contended, acquire) != open) futex_wait(word_, contended);
  }
  bool try_lock() noexcept {
    std::uint32_t expected = open;
    return word_.load(relaxed) == open && word_.compare_exchange_strong(expected, locked, acquire, relaxed);
  }
  void unlock() noexcept {
    if (word_.exchange(open, release) == contended) futex_wake(word_, 1);
  }

 private:
#ifdef KITH_INTERLEAVE
  static constexpr int spins =
      1;  // the checker's pause() returns only after a change, so more rounds would hide the sleep
#else
  static constexpr int spins = 64;
#endif
  enum : std::uint32_t { open, locked, contended };
  atomic<std::uint32_t> word_{open};
};

}  // namespace kith
