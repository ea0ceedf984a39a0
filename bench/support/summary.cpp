#include "summary.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace kith::bench {

summary summary_of(std::vector<double> values) {
  if (values.empty()) throw std::runtime_error("a median of no values");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {median, values.front(), values.back()};
}

std::optional<double> granularity_at(double level, std::vector<efficiency_point> points) {
  std::sort(points.begin(), points.end(),
            [](const efficiency_point& a, const efficiency_point& b) { return a.granularity_ns > b.granularity_ns; });
  for (std::size_t i = 0; i < points.size(); ++i) {
    const efficiency_point& below = points[i];
    if (below.efficiency >= level) continue;
    if (i == 0) return std::nullopt;
    const efficiency_point& above = points[i - 1];
    const double part = (above.efficiency - level) / (above.efficiency - below.efficiency);
    return std::exp(std::log(above.granularity_ns) +
                    part * (std::log(below.granularity_ns) - std::log(above.granularity_ns)));
  }
  return std::nullopt;
}

}  // namespace kith::bench
