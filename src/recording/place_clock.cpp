#include "recording/place_clock.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kith {

namespace {

/// The bound on the error at `t` of the line through two samples.
double error_at(double t, const clock_sample& a, const clock_sample& b) {
  const double share = (t - a.middle()) / (b.middle() - a.middle());
  return std::abs(1 - share) * a.error() + std::abs(share) * b.error();
}

/// The bound is convex in time, so it is largest at an end.
double largest_error(double until, const clock_sample& a, const clock_sample& b) {
  return std::max(error_at(0, a, b), error_at(until, a, b));
}

clock_relation through(const clock_sample& a, const clock_sample& b, double until) {
  clock_relation r;
  r.drift = (b.offset() - a.offset()) / (b.middle() - a.middle());
  r.offset = a.offset() - r.drift * a.middle();
  r.error = largest_error(until, a, b);
  return r;
}

/// The relation of one sample, if the rates were the same.
clock_relation from_one(const clock_sample& a, double until) {
  return {.offset = a.offset(), .error = a.error() + most_drift * std::max(a.middle(), std::abs(until - a.middle()))};
}

/// The samples with the smallest errors, a few from each part of the time; only these matter to the relation.
std::vector<clock_sample> best_of(std::span<const clock_sample> all) {
  constexpr std::size_t parts = 8, most = 4;
  std::vector<clock_sample> sorted(all.begin(), all.end()), best;
  std::ranges::sort(sorted, {}, &clock_sample::sent);
  for (std::size_t p = 0; p < parts; ++p) {
    std::vector<clock_sample> part(sorted.begin() + static_cast<std::ptrdiff_t>(p * sorted.size() / parts),
                                   sorted.begin() + static_cast<std::ptrdiff_t>((p + 1) * sorted.size() / parts));
    std::ranges::sort(part, {}, &clock_sample::error);
    best.insert(best.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(std::min(most, part.size())));
  }
  return best;
}

}  // namespace

clock_relation relate_clocks(std::span<const clock_sample> all, double until) {
  const std::vector<clock_sample> best = best_of(all);
  clock_relation found = from_one(best.front(), until);
  const auto take = [&found](const clock_relation& r) {
    if (r.error < found.error) found = r;
  };
  for (const clock_sample& a : best) {
    take(from_one(a, until));
    for (const clock_sample& b : best) {
      if (a.middle() < b.middle()) take(through(a, b, until));
    }
  }
  double unsteady = 0;
  for (const clock_sample& s : all)
    unsteady = std::max(unsteady, std::abs(s.there - found.at(s.middle())) - s.error() - found.error);
  found.error += unsteady;
  return found;
}

}  // namespace kith
