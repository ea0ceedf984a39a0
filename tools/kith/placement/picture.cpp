#include "placement/picture.hpp"

#include "picture/canvas.hpp"
#include "svg.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace kith::tools {

namespace {

constexpr double left = 16, gap = 24, picture_letters = 12, line = 16;

/// All lines of the text below a panel, folded to its width.
std::vector<std::string> folded_below(const panel& p) {
  std::vector<std::string> all;
  for (const std::string& words : p.below) {
    const std::vector<std::string> lines = text_lines(words, picture_letters, panel_width);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

std::string text(double x, double y, const std::string& words, const char* how) {
  return fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" {}>{}</text>\n", x, y, how, escaped(words));
}

}  // namespace

std::string side_by_side(const std::string& title, const std::vector<panel>& panels, double panel_height,
                         std::size_t nodes) {
  constexpr double key = 20, each = 46;
  const double width = std::max(2 * left + (panel_width + gap) * static_cast<double>(panels.size()) - gap, 420.0);
  const std::vector<std::string> heading = text_lines(title, 15, width - 2 * left);
  std::size_t titles = 1, below_lines = 0;
  for (const panel& p : panels) {
    titles = std::max(titles, text_lines(p.title, picture_letters, panel_width, true).size());
    below_lines = std::max(below_lines, folded_below(p).size());
  }
  const double top = 30 + 18 * static_cast<double>(heading.size()) + line * static_cast<double>(titles) - 6;
  const auto in_line = static_cast<std::size_t>((width - 2 * left) / each);
  const std::size_t lines = (nodes + in_line - 1) / in_line;
  const double below = top + panel_height + line, keys = below + line * static_cast<double>(below_lines) - 2;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width, keys + key * static_cast<double>(lines) + 8);
  for (std::size_t i = 0; i < heading.size(); ++i)
    svg += text(left, 22 + 18 * static_cast<double>(i), heading[i], "font-size=\"15\"");
  double x = left;
  for (const panel& p : panels) {
    const std::vector<std::string> names = text_lines(p.title, picture_letters, panel_width, true);
    for (std::size_t i = 0; i < names.size(); ++i)
      svg += text(x, top - 8 - line * static_cast<double>(names.size() - 1 - i), names[i], "font-weight=\"bold\"");
    svg += fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", x, top, p.drawing);
    double y = below;
    for (const std::string& words : folded_below(p)) {
      svg += text(x, y, words, "fill=\"#333\"");
      y += line;
    }
    x += panel_width + gap;
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    const std::size_t row = n / in_line;
    const double at = left + each * static_cast<double>(n % in_line), y = keys + key * static_cast<double>(row);
    svg += fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"12\" height=\"12\" fill=\"{}\"/>", at, y,
                       color_of(n, nodes));
    svg += text(at + 16, y + 10, std::to_string(n), "");
  }
  return svg + "</svg>\n";
}

}  // namespace kith::tools
