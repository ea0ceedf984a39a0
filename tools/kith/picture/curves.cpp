// Curves over numbers, such as speed-ups over cores. Each curve's name is at its end.
#include "picture/chart.hpp"
#include "picture/frame.hpp"
#include "svg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kith::tools {

namespace {

constexpr double curves_letters = 12, axis = 44, below = 40;

/// The ranges of both axes.
struct extent {
  double most_x = 0, most_y = 0, step = 1;
  std::vector<double> ticks;  // of x: at the values
};

extent extent_of(const std::vector<const chart_part*>& parts) {
  extent e;
  for (const chart_part* p : parts) {
    for (const chart_value& v : p->values) {
      e.ticks.push_back(std::stod(v.name));
      e.most_y = std::max({e.most_y, v.value.most, v.value.mean, v.printed.value_or(0)});
    }
  }
  std::ranges::sort(e.ticks);
  e.ticks.erase(std::unique(e.ticks.begin(), e.ticks.end()), e.ticks.end());
  e.most_x = e.ticks.empty() ? 1 : std::max(e.ticks.back(), 1e-9);
  e.step = step_for(e.most_y);
  e.most_y = std::max(e.step, std::ceil(e.most_y / e.step - 1e-9) * e.step);
  return e;
}

struct curves_frame {
  extent shown;
  double left, top, width, height;
  double x(double v) const { return left + axis + width * v / shown.most_x; }
  double y(double v) const { return top + height * (1 - v / shown.most_y); }
};

void draw_axes(canvas& c, const curves_frame& f, const std::string& what) {
  for (int i = 0; i * f.shown.step <= f.shown.most_y * (1 + 1e-9); ++i) {
    const double v = i * f.shown.step;
    c.line(f.x(0), f.y(v), f.x(f.shown.most_x), f.y(v), i == 0 ? "#999" : "#e4e4e4");
    c.text(f.x(0) - 6, f.y(v) + 4, fmt::format("{:g}", v), {.size = 11, .color = faint_color, .at = anchor::right});
  }
  c.text(f.x(f.shown.most_x / 2), f.y(0) + 32, what, {.size = 11, .color = faint_color, .at = anchor::middle});
  double free_from = -1e9;
  for (double v : f.shown.ticks) {
    const std::string number = fmt::format("{:g}", v);
    const double half = text_width(number, 11) / 2;
    c.line(f.x(v), f.y(0), f.x(v), f.y(0) + 4, "#999");
    if (f.x(v) - half < free_from + 6) continue;
    c.text(f.x(v), f.y(0) + 17, number, {.size = 11, .color = faint_color, .at = anchor::middle});
    free_from = f.x(v) + half;
  }
}

void draw_curve(canvas& c, const curves_frame& f, const chart_part& p, const std::string& color) {
  std::vector<std::pair<double, double>> points, printed;
  for (const chart_value& v : p.values) {
    const double x = f.x(std::stod(v.name));
    points.emplace_back(x, f.y(v.value.mean));
    if (v.value.most > v.value.least) c.line(x, f.y(v.value.least), x, f.y(v.value.most), "#222", 1.2);
    if (v.printed) printed.emplace_back(x, f.y(*v.printed));
  }
  c.curve(points, color, 2.2);
  for (const auto& [x, y] : points) c.dot(x, y, 3.2, color);
  if (printed.size() > 1) c.curve(printed, printed_color, 1.2, "4 3");
  for (const auto& [x, y] : printed) c.diamond(x, y, 4.5, printed_color);
}

/// Draws the names at the ends of curves, moved apart where ends are close to each other.
void draw_names(canvas& c, const curves_frame& f, const std::vector<const chart_part*>& parts) {
  struct name {
    double end, y;
    std::size_t part;
  };
  std::vector<name> names;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i]->values.empty()) continue;
    const double y = f.y(parts[i]->values.back().value.mean);
    names.push_back({y, y, i});
  }
  std::ranges::sort(names, {}, &name::end);
  constexpr double apart = curves_letters * 1.35;
  for (std::size_t i = 1; i < names.size(); ++i) names[i].y = std::max(names[i].y, names[i - 1].y + apart);
  double bottom = f.y(0) + 4;
  for (std::size_t i = names.size(); i-- > 0;) {
    names[i].y = std::min(names[i].y, bottom);
    bottom = names[i].y - apart;
  }
  const double x = f.x(f.shown.most_x);
  for (const name& n : names) {
    c.line(x + 5, n.end, x + 16, n.y, "#bbb");
    c.text(x + 20, n.y + 4, parts[n.part]->title, {.size = curves_letters, .bold = true});
  }
}

std::string in_one_frame(const chart& about, const std::vector<const chart_part*>& parts) {
  constexpr double width = 560, height = 320;
  canvas c;
  const curves_frame f{extent_of(parts), 0, draw_head(c, about, axis + width + 120), width, height};
  draw_axes(c, f, about.along);
  for (std::size_t i = 0; i < parts.size(); ++i) draw_curve(c, f, *parts[i], color_of(i, parts.size()));
  draw_names(c, f, parts);
  draw_foot(c, about, f.y(0) + below, axis + width, "");
  return c.document();
}

std::string in_frames_of_their_own(const chart& about, const std::vector<const chart_part*>& parts) {
  constexpr double width = 240, height = 150, gap = 30, title = 22;
  const auto columns = static_cast<std::size_t>(std::clamp(std::ceil(std::sqrt(parts.size())), 1.0, 4.0));
  const double all = static_cast<double>(columns) * (axis + width + gap);
  canvas c;
  const double top = draw_head(c, about, all);
  const extent shown = extent_of(parts);
  double bottom = top;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t in_row = i % columns, row = i / columns;
    const double x = static_cast<double>(in_row) * (axis + width + gap);
    const double y = top + static_cast<double>(row) * (title + height + below + gap);
    c.text(x, y + 10, parts[i]->title, {.size = 13, .bold = true});
    const curves_frame f{shown, x, y + title, width, height};
    draw_axes(c, f, about.along);
    draw_curve(c, f, *parts[i], color_of(0, 1));
    bottom = std::max(bottom, f.y(0) + below);
  }
  draw_foot(c, about, bottom, all - gap, "");
  return c.document();
}

}  // namespace

std::string draw_curves(const chart& about) {
  std::vector<const chart_part*> parts;
  for (const chart_part& p : about.parts) parts.push_back(&p);
  return has_printed(about) ? in_frames_of_their_own(about, parts) : in_one_frame(about, parts);
}

}  // namespace kith::tools
