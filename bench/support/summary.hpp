// Medians, and the point where a curve of efficiency crosses a level.
#pragma once

#include <optional>
#include <vector>

namespace kith::bench {

struct summary {
  double median, min, max;
};
/// REQUIRES: at least one value.
summary summary_of(std::vector<double> values);

/// One sample of `metg`: with tasks of this granularity (wall time x workers / tasks), this share of the
/// time was work.
struct efficiency_point {
  double granularity_ns;
  double efficiency;

  double work_ns() const { return granularity_ns * efficiency; }
};

/// The finest granularity that still reaches `level`. It is interpolated between the finest sample that
/// does and the next finer one, linearly in the efficiency and in the logarithm of the granularity. Other
/// work on the machine only lowers an efficiency, so coarser samples below the level do not count. None if
/// no sample reaches the level, or if the finest one still does.
std::optional<double> granularity_at(double level, std::vector<efficiency_point> points);

}  // namespace kith::bench
