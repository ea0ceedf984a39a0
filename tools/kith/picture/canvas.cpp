#include "picture/canvas.hpp"

#include "svg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace kith::tools {

double text_width(const std::string& text, double size, bool bold) {
  double ems = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) == 0x80) continue;  // continues a character
    const auto among = [c](std::string_view some) { return some.find(c) != std::string_view::npos; };
    ems += among("ijlI|.,:;'! ")  ? 0.34
           : among("frt()[]-/")   ? 0.42
           : among("mwMW%@")      ? 0.98
           : c >= 'A' && c <= 'Z' ? 0.72
                                  : 0.64;
  }
  return ems * size * (bold ? 1.1 : 1);
}

std::vector<std::string> text_lines(const std::string& text, double size, double width, bool bold) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" ,:-_", at), text.size() - 1) + 1;
    const std::string piece = text.substr(at, end - at);
    if (!lines.back().empty() && text_width(lines.back() + piece, size, bold) > width) lines.emplace_back();
    lines.back() += piece;
    at = end;
  }
  for (std::string& l : lines) l.erase(l.find_last_not_of(' ') + 1);
  return lines;
}

void canvas::reach(double x, double y) {
  right_ = std::max(right_, x);
  bottom_ = std::max(bottom_, y);
}

void canvas::text(double x, double y, const std::string& text, const lettering& how) {
  const double width = text_width(text, how.size, how.bold);
  const char* const where = how.at == anchor::left     ? ""
                            : how.at == anchor::middle ? " text-anchor=\"middle\""
                                                       : " text-anchor=\"end\"";
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:g}\" fill=\"{}\"{}{}>{}</text>\n", x, y, how.size,
                       how.color, where, how.bold ? " font-weight=\"bold\"" : "", escaped(text));
  reach(how.at == anchor::left ? x + width : how.at == anchor::middle ? x + width / 2 : x, y + how.size * 0.25);
}

void canvas::box(double x, double y, double width, double height, const std::string& fill) {
  body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", x, y,
                       width, height, fill);
  reach(x + width, y + height);
}

void canvas::line(double x1, double y1, double x2, double y2, const std::string& color, double width,
                  const char* dashes) {
  curve({{x1, y1}, {x2, y2}}, color, width, dashes);
}

void canvas::curve(const std::vector<std::pair<double, double>>& points, const std::string& color, double width,
                   const char* dashes) {
  std::string path;
  for (const auto& [x, y] : points) {
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, y);
    reach(x + width / 2, y + width / 2);
  }
  body_ += fmt::format("<path fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\"{} d=\"{}\"/>\n", color, width,
                       *dashes == '\0' ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes), path);
}

void canvas::dot(double x, double y, double radius, const std::string& fill) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:g}\" fill=\"{}\"/>\n", x, y, radius, fill);
  reach(x + radius, y + radius);
}

void canvas::diamond(double x, double y, double radius, const std::string& color) {
  body_ += fmt::format(
      "<path d=\"M{0:.1f} {1:.1f}l{2:g} {2:g}l-{2:g} {2:g}l-{2:g} -{2:g}z\" fill=\"#fff\" stroke=\"{3}\" "
      "stroke-width=\"1.6\"/>\n",
      x, y - radius, radius, color);
  reach(x + radius + 1, y + radius + 1);
}

std::string canvas::document(double margin) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n<g transform=\"translate({2:g} {2:g})\">\n{3}</g>\n</svg>\n",
      right_ + 2 * margin, bottom_ + 2 * margin, margin, body_);
}

}  // namespace kith::tools
