// How clocks of places are related: estimates are compared with clocks that the test makes.
#include "recording/place_clock.hpp"
#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace {

using kith::clock_relation;
using kith::clock_sample;
using kith::relate_clocks;

/// Two clocks, and messages between them that take any time, in each direction its own.
struct two_clocks {
  double offset, drift;  // the true ones
  kith::rng draw;

  two_clocks(double o, double d, std::uint64_t seed) : offset(o), drift(d), draw(seed, kith::purpose::test, 0) {}
  double there(double here) const { return here + offset + drift * here; }
  clock_sample ask(double at) {
    const double way = 500 + draw.below(20'000), back = 500 + draw.below(20'000);
    return {at, at + way + back, there(at + way)};
  }
};

TEST(place_clock, offset_and_drift_are_found_within_the_error_that_is_stated) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    two_clocks clocks(1e6 * (static_cast<double>(seed) - 100), 1e-6 * (static_cast<double>(seed % 41) - 20), seed);
    constexpr double until = 2e9;
    std::vector<clock_sample> samples;
    for (int i = 0; i < 16; ++i) samples.push_back(clocks.ask(1e5 + 5e4 * i));
    for (int i = 0; i < 4; ++i) samples.push_back(clocks.ask(4e8 * i + 3e8));
    for (int i = 0; i < 16; ++i) samples.push_back(clocks.ask(until - 1e6 + 5e4 * i));
    const clock_relation r = relate_clocks(samples, until);
    for (const double t : {0.0, 1e6, 7e8, until})
      EXPECT_LE(std::abs(r.at(t) - clocks.there(t)), r.error) << "seed " << seed << " at " << t;
    EXPECT_LT(r.error, 25'000);  // half of a slow round trip
  }
}

TEST(place_clock, a_single_answer_gives_an_offset_whose_error_grows_with_time) {
  const clock_sample only{1000, 3000, 502'000};
  const clock_relation soon = relate_clocks(std::vector{only}, 2000), late = relate_clocks(std::vector{only}, 1e9);
  EXPECT_DOUBLE_EQ(soon.at(2000), 502'000);
  EXPECT_DOUBLE_EQ(soon.drift, 0);
  EXPECT_NEAR(soon.error, 1000 + kith::most_drift * 2000, 1);
  EXPECT_NEAR(late.error, 1000 + kith::most_drift * 1e9, 10);
}

TEST(place_clock, the_quickest_answers_decide) {
  // The slow answer in the middle allows for an offset of anything from 0 to 100000.
  const std::vector<clock_sample> samples{
      {0, 100, 10'050}, {500'000, 600'000, 600'000}, {1'000'000, 1'000'100, 1'010'050}};
  const clock_relation r = relate_clocks(samples, 1'000'100);
  EXPECT_NEAR(r.offset, 10'000, 1);
  EXPECT_NEAR(r.error, 50, 1);
}

TEST(place_clock, a_clock_that_jumps_adds_to_the_error) {
  std::vector<clock_sample> samples;
  for (int i = 0; i <= 10; ++i) {
    const double at = 1e6 * i;
    samples.push_back({at, at + 100, at + 50 + (i == 5 ? 30'000 : 0)});
  }
  EXPECT_GT(relate_clocks(samples, 1e7).error, 10'000);
}

}  // namespace
