// Time stamps that are cheap enough to take between tasks.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <time.h>
#endif

namespace kith {

/// Ticks of a clock that runs at a constant rate on all cores; the rate is seconds_per_tick().
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#else
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
#endif
}

/// The same, ordered after all earlier and before all later instructions of the program.
inline std::uint64_t ordered_ticks() noexcept {
#if defined(__x86_64__)
  _mm_lfence();
  const std::uint64_t now = __rdtsc();
  _mm_lfence();
  return now;
#else
  return ticks();
#endif
}

/// Measured once per process, against the system's monotonic clock (takes 2 ms at the first call).
double seconds_per_tick();

}  // namespace kith
