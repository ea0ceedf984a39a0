#include "picture/frame.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kith::tools {

namespace {

double draw_lines(canvas& c, double y, const std::string& text, double width, const lettering& how) {
  for (const std::string& line : text_lines(text, how.size, width, how.bold)) {
    y += how.size * 1.35;
    c.text(0, y, line, how);
  }
  return y;
}

}  // namespace

double draw_head(canvas& c, const chart& about, double width) {
  double y = draw_lines(c, 0, about.title, width, {.size = 18, .bold = true});
  if (!about.subtitle.empty()) y = draw_lines(c, y + 2, about.subtitle, width, {.size = 12, .color = faint_color});
  return y + 22;
}

void draw_foot(canvas& c, const chart& about, double y, double width, const char* marks) {
  std::string text = marks;
  if (has_ranges(about))
    text += text.empty() ? "thin lines: from the least to the most of the runs"
                         : "; thin lines: from the least to the most of the runs";
  if (has_printed(about)) {
    const double middle = y + 11;
    c.diamond(5, middle, 4.5, printed_color);
    c.text(16, middle + 4, "the paper's value", {.size = 11, .color = printed_color});
    y += 20;
  }
  if (!text.empty()) y = draw_lines(c, y, text, width, {.size = 11, .color = faint_color});
  for (const std::string& note : about.notes) y = draw_lines(c, y + 2, note, width, {.size = 11, .color = faint_color});
}

bool has_printed(const chart& c) {
  return std::ranges::any_of(c.parts, [](const chart_part& p) {
    return std::ranges::any_of(p.values, [](const chart_value& v) { return v.printed.has_value(); });
  });
}

bool has_ranges(const chart& c) {
  return std::ranges::any_of(c.parts, [](const chart_part& p) {
    return std::ranges::any_of(p.values, [](const chart_value& v) { return v.value.most > v.value.least; });
  });
}

double step_for(double most) {
  const double raw = std::max(most, 1e-12) / 5, ten = std::pow(10, std::floor(std::log10(raw)));
  for (double s : {1.0, 2.0, 5.0}) {
    if (raw <= s * ten) return s * ten;
  }
  return 10 * ten;
}

std::string short_number(double v) {
  const double size = std::abs(v);
  if (size >= 1e5 || (size != 0 && size < 1e-3)) return fmt::format("{:.2g}", v);
  if (size >= 100) return fmt::format("{:.0f}", v);
  if (size >= 10) return fmt::format("{:.1f}", v);
  return size == 0 || size >= 0.1 ? fmt::format("{:.2f}", v) : fmt::format("{:.2g}", v);
}

}  // namespace kith::tools
