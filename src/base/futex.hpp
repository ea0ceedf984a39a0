// Sleeping on a word until it changes.
#pragma once

#include "base/atomic.hpp"

#ifndef KITH_INTERLEAVE  // the interleaving checker brings its own

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdint>

namespace kith {

/// Returns when woken, when the word differs from `expected`, or for no reason: callers look again.
inline void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  static_assert(sizeof(word) == 4);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// Wakes up to `count` threads that sleep on the word. The word may no longer exist: then nobody sleeps on it.
inline void futex_wake(const atomic<std::uint32_t>& word, int count) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

}  // namespace kith
#endif
