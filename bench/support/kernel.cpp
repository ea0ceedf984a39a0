#include "kernel.hpp"

#include <algorithm>
#include <chrono>

namespace kith::bench {

namespace {
// Carried from task to task. Otherwise a core overlaps the chains of neighbouring short tasks, and exceeds its peak.
thread_local double link = 1.0;
}  // namespace

void busy(std::int64_t iterations) noexcept {
  double x = link;
  for (std::int64_t i = 0; i < iterations; ++i) {
    x = x * 0.999999 + 0.5;
    asm volatile("" : "+x"(x));  // keeps the chain, so that no two links are merged
  }
  link = x;
}

double now_nanoseconds() noexcept {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double nanoseconds_per_iteration() {
  constexpr std::int64_t iterations = 200'000;
  double best = 1e300;
  for (int i = 0; i < 4; ++i) {
    const double from = now_nanoseconds();
    busy(iterations);
    best = std::min(best, (now_nanoseconds() - from) / iterations);
  }
  return best;
}

}  // namespace kith::bench
