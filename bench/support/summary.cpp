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
  // Sorted by the length of their work, which was chosen, because noise may exchange the granularities of neighbours.
  std::sort(points.begin(), points.end(),
            [](const efficiency_point& a, const efficiency_point& b) { return a.work_ns() > b.work_ns(); });
  const auto last =
      std::find_if(points.rbegin(), points.rend(), [&](const efficiency_point& p) { return p.efficiency >= level; });
  if (last == points.rend() || last == points.rbegin()) return std::nullopt;
  const efficiency_point &above = *last, &below = *std::prev(last);
  const double part = (above.efficiency - level) / (above.efficiency - below.efficiency);
  return above.granularity_ns * std::pow(below.granularity_ns / above.granularity_ns, part);
}

}  // namespace kith::bench
