// Charts that go into a talk: values by name as bars, values by number as curves. What a paper prints stands beside them.
#pragma once

#include "sim/runs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kith::tools {

struct chart_value {
  std::string name;  // of a bar; of a point: its number
  sample value;
  std::optional<double> printed = {};  // in the paper
  std::size_t color = 0;               // the same for the same thing in all parts of a chart
};
/// Values below one heading.
struct chart_part {
  std::string title;
  std::vector<chart_value> values;
};
struct chart {
  std::string title, subtitle;
  std::vector<chart_part> parts;
  bool one_scale = true;                // parts can be compared
  std::string along = {};               // what the numbers of curves are
  std::vector<std::string> notes = {};  // below
};

/// An SVG document: each part has its bars, one below the other, with their values and the range of repeated runs.
std::string draw_bars(const chart&);
/// Each part is a curve over numbers. Without printed values all are in one frame, else each has its own.
std::string draw_curves(const chart&);

}  // namespace kith::tools
