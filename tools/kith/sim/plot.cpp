#include "sim/plot.hpp"

#include "svg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kith::tools {

namespace {

/// 1, 2 or 5 times a power of ten, so that about five steps reach `most`.
double step_for(double most) {
  const double raw = std::max(most, 1e-12) / 5, ten = std::pow(10, std::floor(std::log10(raw)));
  for (double s : {1.0, 2.0, 5.0}) {
    if (raw <= s * ten) return s * ten;
  }
  return 10 * ten;
}

}  // namespace

void write_svg(const bar_chart& c, const std::string& file) {
  constexpr double left = 60, top = 50, height = 260, bar = 22, gap = 26, bottom = 60;
  const std::size_t colors = c.series.size();
  double most = 0;
  for (const bar_group& g : c.groups) {
    for (const sample& s : g.bars) most = std::max(most, s.most);
  }
  const double step = step_for(most), scale = height / (std::ceil(most / step) * step);
  const double group = bar * static_cast<double>(c.series.size()) + gap;
  const double width = std::max(left + group * static_cast<double>(c.groups.size()) + 20, 420.0);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"20\" font-size=\"15\">{3}</text>\n<text x=\"{2}\" y=\"38\" fill=\"#555\">{4}</text>\n",
      width, top + height + bottom, left, escaped(c.title), escaped(c.unit));
  for (double v = 0; v * scale <= height + 0.5; v += step) {
    const double y = top + height - v * scale;
    svg += fmt::format(
        "<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{:g}</text>\n",
        left, width - 10, y, y, left - 6, y + 4, v);
  }
  double x = left + gap / 2;
  for (const bar_group& g : c.groups) {
    for (std::size_t s = 0; s < g.bars.size(); ++s) {
      const sample& v = g.bars[s];
      const double at = x + bar * static_cast<double>(s), y = top + height - v.mean * scale;
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\"/>\n", at, y,
                         bar - 2, v.mean * scale, color_of(s, colors));
      if (v.most > v.least) {
        svg += fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#222\"/>\n",
                           at + bar / 2 - 1, top + height - v.most * scale, top + height - v.least * scale);
      }
    }
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x + (group - gap) / 2,
                       top + height + 18, escaped(g.name));
    x += group;
  }
  double at = left;
  for (std::size_t s = 0; s < c.series.size(); ++s) {
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{:.1f}\" y=\"{}\">{}</text>\n",
        at, top + height + 32, color_of(s, colors), at + 16, top + height + 42, escaped(c.series[s]));
    at += 36 + 7 * static_cast<double>(c.series[s].size());
  }
  write_picture(svg + "</svg>\n", file);
}

}  // namespace kith::tools
