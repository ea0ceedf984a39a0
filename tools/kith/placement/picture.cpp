#include "placement/picture.hpp"

#include "svg.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace kith::tools {

std::string side_by_side(const std::string& title, const std::vector<panel>& panels, double panel_height,
                         std::size_t nodes) {
  constexpr double left = 16, top = 58, gap = 24, line = 16, key = 20, each = 46;
  std::size_t text = 0;
  for (const panel& p : panels) text = std::max(text, p.below.size());
  const double width = std::max(2 * left + (panel_width + gap) * static_cast<double>(panels.size()) - gap, 420.0);
  const auto in_line = static_cast<std::size_t>((width - 2 * left) / each);
  const std::size_t lines = (nodes + in_line - 1) / in_line;
  const double below = top + panel_height + line, keys = below + line * static_cast<double>(text) - 2;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{2}\" y=\"22\" font-size=\"15\">{3}</text>\n",
      width, keys + key * static_cast<double>(lines) + 8, left, escaped(title));
  double x = left;
  for (const panel& p : panels) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", x, top - 10, escaped(p.title));
    svg += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", x, top, p.drawing);
    double y = below;
    for (const std::string& words : p.below) {
      svg += fmt::format("<text x=\"{}\" y=\"{:.0f}\" fill=\"#333\">{}</text>\n", x, y, escaped(words));
      y += line;
    }
    x += panel_width + gap;
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    const std::size_t row = n / in_line;
    const double at = left + each * static_cast<double>(n % in_line), y = keys + key * static_cast<double>(row);
    svg += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"12\" height=\"12\" fill=\"{}\"/>"
        "<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
        at, y, color_of(n, nodes), at + 16, y + 10, n);
  }
  return svg + "</svg>\n";
}

}  // namespace kith::tools
