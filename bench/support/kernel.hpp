// The work of a task in `metg`: a chain of multiply-adds, each waiting for the one before, so that its time is
// proportional to its iterations and the same in every system. Compiled once, for all of them.
#pragma once

#include <cstdint>

namespace kith::bench {

/// Runs `iterations` links of the chain.
void busy(std::int64_t iterations) noexcept;

/// Nanoseconds of one iteration on the calling core, now: the best of a few measurements of about a millisecond.
double nanoseconds_per_iteration();

/// Monotonic clock.
double now_nanoseconds() noexcept;

}  // namespace kith::bench
