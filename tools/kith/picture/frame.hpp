// The head and the foot that both kinds of charts have.
#pragma once

#include "picture/canvas.hpp"
#include "picture/chart.hpp"

namespace kith::tools {

inline constexpr const char* printed_color = "#a00";
inline constexpr const char* faint_color = "#666";

/// Draws title and subtitle, folded to `width`. Returns where the drawing begins.
double draw_head(canvas&, const chart&, double width);
/// Draws the key of the marks, and the notes.
void draw_foot(canvas&, const chart&, double y, double width, const char* marks);

bool has_printed(const chart&);
bool has_ranges(const chart&);
/// The step, 1, 2 or 5 times a power of ten, of which about five reach `most`.
double step_for(double most);
/// With three digits.
std::string short_number(double);

}  // namespace kith::tools
