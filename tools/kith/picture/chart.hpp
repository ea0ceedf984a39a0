// Charts for talks: values by name as bars, values by number as curves, with the values that a paper prints.
#pragma once

#include "sim/runs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kith::tools {

struct chart_value {
  std::string name;  // of a bar; of a point: its number as text
  sample value;
  std::optional<double> printed = {};  // the paper's value
  std::size_t color = 0;               // of a thing; the same in all parts of the chart
};
/// Values under one heading.
struct chart_part {
  std::string title;
  std::vector<chart_value> values;
};
struct chart {
  std::string title, subtitle;
  std::vector<chart_part> parts;
  bool one_scale = true;                // parts can be compared with each other
  std::string along = {};               // what the x axis of curves counts
  std::vector<std::string> notes = {};  // below the drawing
};

/// An SVG document. Each part has its bars, one below the other, with their values and the range of repeated runs.
std::string draw_bars(const chart&);
/// An SVG document. Each part is a curve over numbers. Without printed values all curves share one frame;
/// else each has its own.
std::string draw_curves(const chart&);

}  // namespace kith::tools
