// How the clock of one place relates to that of place 0, from what each of them said at the same time, nearly.
#pragma once

#include <cstdint>
#include <span>

namespace kith {

/// Place 0's clock said `there` at some moment between `sent` and `received` here. All in nanoseconds.
struct clock_sample {
  double sent = 0, received = 0, there = 0;

  double middle() const noexcept { return (sent + received) / 2; }
  double offset() const noexcept { return there - middle(); }
  /// The offset is wrong by at most this.
  double error() const noexcept { return (received - sent) / 2; }
};

struct clock_relation {
  double offset = 0;  // at time 0 here
  double drift = 0;   // of the offset, for each nanosecond here
  double error = 0;

  double at(double here) const noexcept { return here + offset + drift * here; }
};

/// Rates of two clocks are assumed to differ by no more than this where samples are too close to say: quartz has 100 in
/// 10^6 at most, and a place measures the length of a tick once, to some 10^-4.
inline constexpr double most_drift = 1e-3;

/// The relation whose error is the smallest from time 0 to `until`, if both clocks are steady. What samples show of the
/// contrary is added to the error. REQUIRES: there are samples. Cost: O(samples).
clock_relation relate_clocks(std::span<const clock_sample>, double until);

}  // namespace kith
