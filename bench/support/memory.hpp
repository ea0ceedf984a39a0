// The memory that the process uses, to compute bytes per task.
#pragma once

#include <cstdint>

namespace kith::bench {

/// The bytes in use on the C library's heap, which are exact, plus resident anonymous memory outside of
/// that heap, in pages.
std::int64_t live_bytes();
/// Only the exact part: for so few tasks that whole pages are too coarse a measure.
std::int64_t heap_bytes();

/// Waits a little without a system call.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace kith::bench
