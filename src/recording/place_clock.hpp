// The relation of one place's clock to that of place 0, from readings of both at nearly the same time.
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

/// The assumed bound on the difference of two clocks' rates if the samples are too close together to measure it: quartz
/// has at most 100 in 10^6, and a place measures the length of a tick once, to some 10^-4.
inline constexpr double most_drift = 1e-3;

/// The relation with the smallest error from time 0 to `until`, if both clocks are steady. Deviations of the samples
/// from it are added to the error. REQUIRES: there are samples. Cost: O(samples).
clock_relation relate_clocks(std::span<const clock_sample>, double until);

}  // namespace kith
