// How much memory the process uses now, for bytes per task.
#pragma once

#include <cstdint>

namespace kith::bench {

/// Bytes in use on the C library's heap, exactly, plus resident anonymous memory outside of that heap (page by page).
std::int64_t live_bytes();
/// The exact part alone: for so few tasks that pages are too coarse a measure.
std::int64_t heap_bytes();

/// Waiting without a system call.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace kith::bench
