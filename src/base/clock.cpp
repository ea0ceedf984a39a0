#include "base/clock.hpp"

#include "base/made_once.hpp"

#include <chrono>

namespace kith {

double seconds_per_tick() {
#if defined(__x86_64__)
  static constinit made_once<double> rate;
  return rate.get([] {
    using clock = std::chrono::steady_clock;
    const auto t0 = clock::now();
    const std::uint64_t c0 = ticks();
    while (clock::now() - t0 < std::chrono::milliseconds(2)) {
    }
    const auto t1 = clock::now();
    const std::uint64_t c1 = ticks();
    return std::chrono::duration<double>(t1 - t0).count() / static_cast<double>(c1 - c0);
  });
#else
  return 1e-9;
#endif
}

}  // namespace kith
