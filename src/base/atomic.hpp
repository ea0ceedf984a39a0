// The only place from which Kith's sources take atomics.
//
// A build uses the standard's atomics. A test that defines KITH_INTERLEAVE uses the interleaving checker's
// instead, so that the same source runs under every schedule that the checker explores.
#pragma once

#ifdef KITH_INTERLEAVE
#include "interleave/atomic.hpp"
#else

#include "base/sanitizers.hpp"

#include <atomic>

namespace kith {

template <class T>
using atomic = std::atomic<T>;

/// The thread sanitizer does not model stand-alone fences.
inline constexpr bool fences_are_modelled = KITH_TSAN == 0;

/// A full fence between earlier stores and later loads of this thread.
inline void full_fence() noexcept {
  if constexpr (fences_are_modelled) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    static std::atomic<int> pivot{0};  // a read-modify-write that the sanitizer understands
    pivot.fetch_add(0, std::memory_order_seq_cst);
  }
}

/// Keeps the compiler from moving accesses across it; the other side of the pair runs process_fence().
inline void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// Tells the core that this is a spinning loop.
inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace kith
#endif

namespace kith {
inline constexpr auto relaxed = std::memory_order_relaxed;
inline constexpr auto acquire = std::memory_order_acquire;
inline constexpr auto release = std::memory_order_release;
inline constexpr auto acq_rel = std::memory_order_acq_rel;
inline constexpr auto seq_cst = std::memory_order_seq_cst;

/// Data that different threads write is kept this far apart: two lines, because the adjacent line is prefetched.
inline constexpr unsigned false_sharing_range = 128;

}  // namespace kith
