// Moments of the standard library's steady clock as the system calls take them.
#pragma once

#include <chrono>
#include <cstdint>

namespace kith {

/// Nanoseconds since the epoch of the steady clock, for futex_wait_until().
inline std::int64_t steady_nanoseconds(std::chrono::steady_clock::time_point t) noexcept {
  return std::chrono::nanoseconds(t.time_since_epoch()).count();
}

}  // namespace kith
