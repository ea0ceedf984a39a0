// Bars are horizontal, so that names of any length fit beside them. Each bar has its number.
#include "picture/chart.hpp"
#include "picture/frame.hpp"
#include "svg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kith::tools {

namespace {

constexpr double letters = 12, line_height = 15, bar_height = 13, row_gap = 7, bar_length = 190, most_label = 210;
constexpr double title_height = 24, part_gap_x = 36, part_gap_y = 26;

struct laid_out {
  std::vector<std::vector<std::vector<std::string>>> labels;  // by part, by value: its lines of text
  std::vector<double> heights;                                // of the parts
  double label = 0, number = 0;
  double width() const { return label + 8 + bar_length + 17 + number; }
};

std::string number_of(const chart_value& v) { return short_number(v.value.mean); }
std::string printed_of(const chart_value& v) { return v.printed ? fmt::format("paper {:g}", *v.printed) : ""; }

laid_out lay_out(const chart& c) {
  laid_out all;
  for (const chart_part& p : c.parts) {
    auto& labels = all.labels.emplace_back();
    double height = title_height;
    for (const chart_value& v : p.values) {
      labels.push_back(text_lines(v.name, letters, most_label));
      for (const std::string& l : labels.back()) all.label = std::max(all.label, text_width(l, letters));
      all.number = std::max(all.number, text_width(number_of(v), letters, true) + text_width(printed_of(v), letters));
      height += std::max(line_height * static_cast<double>(labels.back().size()), bar_height) + row_gap;
    }
    all.heights.push_back(height);
  }
  return all;
}

/// The number of parts side by side that comes closest to the shape of a slide.
std::size_t columns_for(const laid_out& l) {
  std::size_t best = 1;
  double nearest = 1e9;
  for (std::size_t columns = 1; columns <= l.heights.size() && columns <= 4; ++columns) {
    const std::size_t rows = (l.heights.size() + columns - 1) / columns;
    const double wide = static_cast<double>(columns) * (l.width() + part_gap_x);
    const double high = 100 + static_cast<double>(rows) * (std::ranges::max(l.heights) + part_gap_y);
    const double off = std::abs(std::log(wide / high / 2.2));
    if (off < nearest) {
      nearest = off;
      best = columns;
    }
  }
  return best;
}

/// The value of the longest bar. A few values far beyond all others are cut off, and marked.
double top_of(const std::vector<const chart_part*>& parts) {
  std::vector<double> all;
  for (const chart_part* p : parts) {
    for (const chart_value& v : p->values) all.push_back(std::max({v.value.most, v.value.mean, v.printed.value_or(0)}));
  }
  std::ranges::sort(all);
  if (all.empty() || all.back() <= 0) return 1;
  const double usual = all[(all.size() - 1) * 3 / 4];
  return usual > 0 && all.size() > 5 && all.back() > 30 * usual ? 2 * usual : all.back();
}

void draw_part(canvas& c, const chart_part& p, const laid_out& l, std::size_t index, double left, double top,
               double most, std::size_t colors) {
  c.text(left, top + 12, p.title, {.size = 13, .bold = true});
  double y = top + title_height;
  const double bars = left + l.label + 8;
  for (std::size_t i = 0; i < p.values.size(); ++i) {
    const chart_value& v = p.values[i];
    const auto& lines = l.labels[index][i];
    const double height = std::max(line_height * static_cast<double>(lines.size()), bar_height);
    const double middle = y + height / 2;
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const double from_middle = (static_cast<double>(k) - (static_cast<double>(lines.size()) - 1) / 2) * line_height;
      c.text(bars - 8, middle + from_middle + letters * 0.36, lines[k], {.size = letters, .at = anchor::right});
    }
    const auto at = [&](double value) { return bars + bar_length * std::clamp(value / most, 0.0, 1.0); };
    c.box(bars, middle - bar_height / 2, std::max(1.0, at(v.value.mean) - bars), bar_height, color_of(v.color, colors));
    double end = at(v.value.mean);
    if (v.value.mean > most) {
      for (double x : {end - 14, end - 9})
        c.line(x, middle + bar_height / 2 + 2, x + 4, middle - bar_height / 2 - 2, "#fff", 2.5);
    }
    if (v.value.most > v.value.least) {
      c.line(at(v.value.least), middle, at(v.value.most), middle, "#222", 1.2);
      end = std::max(end, at(v.value.most));
    }
    if (v.printed) {
      c.diamond(at(*v.printed), middle, 4.5, printed_color);
      end = std::max(end, at(*v.printed) + 5);
    }
    const std::string number = number_of(v);
    c.text(end + 6, middle + letters * 0.36, number, {.size = letters, .bold = true});
    if (v.printed)
      c.text(end + 11 + text_width(number, letters, true), middle + letters * 0.36, printed_of(v),
             {.size = letters, .color = printed_color});
    y += height + row_gap;
  }
  c.line(bars, top + title_height - 2, bars, y - row_gap + 2, "#999");
}

}  // namespace

std::string draw_bars(const chart& about) {
  const laid_out l = lay_out(about);
  const std::size_t columns = columns_for(l);
  double width = static_cast<double>(columns) * (l.width() + part_gap_x) - part_gap_x;
  width = std::max(width, 420.0);
  std::size_t colors = 1;
  std::vector<const chart_part*> all;
  for (const chart_part& p : about.parts) {
    all.push_back(&p);
    for (const chart_value& v : p.values) colors = std::max(colors, v.color + 1);
  }
  canvas c;
  double y = draw_head(c, about, width);
  for (std::size_t first = 0; first < all.size(); first += columns) {
    double highest = 0;
    for (std::size_t i = first; i < std::min(first + columns, all.size()); ++i) {
      const double x = static_cast<double>(i - first) * (l.width() + part_gap_x);
      draw_part(c, *all[i], l, i, x, y, top_of(about.one_scale ? all : std::vector{all[i]}), colors);
      highest = std::max(highest, l.heights[i]);
    }
    y += highest + part_gap_y;
  }
  draw_foot(c, about, y - part_gap_y + 4, width, "");
  return c.document();
}

}  // namespace kith::tools
