// Sleeping on a word until it changes.
#pragma once

#include "base/atomic.hpp"

#ifndef KITH_INTERLEAVE  // the interleaving checker brings its own

#include <cstdint>

namespace kith {

/// The threads that may sleep on a word: those of this process, or of all processes that have mapped the memory.
enum class futex_scope : std::uint8_t { process, machine };

/// Returns when woken, when the word differs from `expected`, or spuriously; callers must check again.
void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

/// As futex_wait(); also returns at that time of the steady clock, in nanoseconds since its epoch.
void futex_wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t end,
                      futex_scope scope = futex_scope::process) noexcept;

/// As futex_wait(); also returns after that many nanoseconds.
void futex_wait_for(const atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t longest) noexcept;

/// Wakes up to `count` threads that sleep on the word. The word may no longer exist; then no thread sleeps on it.
void futex_wake(const atomic<std::uint32_t>& word, int count, futex_scope scope = futex_scope::process) noexcept;

}  // namespace kith
#endif
