// The work of a task in `metg`: a chain of multiply-adds, each of which waits for the one before. So its
// time is proportional to its iterations, and the same in every system. Compiled once, for all of them.
#pragma once

#include <cstdint>

namespace kith::bench {

/// Runs `iterations` links of the chain.
void busy(std::int64_t iterations) noexcept;

/// Nanoseconds of one iteration on the calling core at this time: the best of a few measurements of about a
/// millisecond.
double nanoseconds_per_iteration();

/// The time of a monotonic clock.
double now_nanoseconds() noexcept;

}  // namespace kith::bench
