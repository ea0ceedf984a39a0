// What both kinds of charts have around them.
#pragma once

#include "picture/canvas.hpp"
#include "picture/chart.hpp"

namespace kith::tools {

inline constexpr const char* printed_color = "#a00";
inline constexpr const char* faint_color = "#666";

/// Title and subtitle; returns where the drawing begins. They are folded to `width`.
double draw_head(canvas&, const chart&, double width);
/// What the marks mean, and the notes.
void draw_foot(canvas&, const chart&, double y, double width, const char* marks);

bool has_printed(const chart&);
bool has_ranges(const chart&);
/// 1, 2 or 5 times a power of ten, so that about five steps reach `most`.
double step_for(double most);
/// Three digits.
std::string short_number(double);

}  // namespace kith::tools
