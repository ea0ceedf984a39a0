// Sleeping on a word until it changes.
#pragma once

#include "base/atomic.hpp"

#ifndef KITH_INTERLEAVE  // the interleaving checker brings its own

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <ctime>

namespace kith {

/// Who sleeps on a word: threads of this process, or of all processes that have mapped the memory.
enum class futex_scope : int { process = FUTEX_PRIVATE_FLAG, machine = 0 };

/// Returns when woken, when the word differs from `expected`, or spuriously; callers must check again.
inline void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  static_assert(sizeof(word) == 4);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// The same; also returns at that time of the steady clock.
inline void futex_wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds end,
                             futex_scope scope = futex_scope::process) noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  const timespec at{.tv_sec = static_cast<time_t>(end.count() / second),
                    .tv_nsec = static_cast<long>(end.count() % second)};
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | static_cast<int>(scope), expected, &at, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

/// As futex_wait(); also returns after that time.
inline void futex_wait_for(const atomic<std::uint32_t>& word, std::uint32_t expected,
                           std::chrono::nanoseconds longest) noexcept {
  futex_wait_until(word, expected, std::chrono::steady_clock::now().time_since_epoch() + longest);
}

/// Wakes up to `count` threads that sleep on the word. The word may no longer exist; then no thread sleeps on it.
inline void futex_wake(const atomic<std::uint32_t>& word, int count,
                       futex_scope scope = futex_scope::process) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE | static_cast<int>(scope), count, nullptr, nullptr, 0);
}

}  // namespace kith
#endif
