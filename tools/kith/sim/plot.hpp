// A bar chart as a picture: groups of bars, a bar for each series, with the spread of its values.
#pragma once

#include "sim/runs.hpp"

#include <string>
#include <vector>

namespace kith::tools {

struct bar_group {
  std::string name;
  std::vector<sample> bars;  // one for each series
};
struct bar_chart {
  std::string title, unit;
  std::vector<std::string> series;
  std::vector<bar_group> groups;
};

/// Named .svg or .png. Throws kith::error if the file cannot be written.
void write_svg(const bar_chart&, const std::string& file);

}  // namespace kith::tools
