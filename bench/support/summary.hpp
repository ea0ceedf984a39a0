// Medians, and where a curve of efficiency crosses a level.
#pragma once

#include <optional>
#include <vector>

namespace kith::bench {

struct summary {
  double median, min, max;
};
/// Of at least one value.
summary summary_of(std::vector<double> values);

/// One sample of `metg`: with tasks of this granularity (wall time x workers / tasks), this part of the time was work.
struct efficiency_point {
  double granularity_ns;
  double efficiency;
};

/// The granularity at which efficiency falls below `level`, coming from coarse tasks: between the last sample above it
/// and the first one below, linear in the efficiency and in the logarithm of the granularity. None if it does not
/// cross.
std::optional<double> granularity_at(double level, std::vector<efficiency_point> points);

}  // namespace kith::bench
