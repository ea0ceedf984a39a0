// A drawing that measures its text, and grows with its contents, so that nothing lies outside.
#pragma once

#include <string>
#include <vector>

namespace kith::tools {

enum class anchor { left, middle, right };

struct lettering {
  double size = 12;
  const char* color = "#222";
  bool bold = false;
  anchor at = anchor::left;
};

/// An estimate for the widest of the usual sans-serif fonts; other fonts take less.
double text_width(const std::string& text, double size, bool bold = false);
/// Breaks text into lines of at most `width`, after spaces, commas, colons, hyphens and underscores.
std::vector<std::string> text_lines(const std::string& text, double size, double width, bool bold = false);

class canvas {
 public:
  /// `y` is the baseline.
  void text(double x, double y, const std::string& text, const lettering& = {});
  void box(double x, double y, double width, double height, const std::string& fill);
  void line(double x1, double y1, double x2, double y2, const std::string& color, double width = 1,
            const char* dashes = "");
  /// A line through all points.
  void curve(const std::vector<std::pair<double, double>>& points, const std::string& color, double width,
             const char* dashes = "");
  void dot(double x, double y, double radius, const std::string& fill);
  /// Marks a value that a paper prints.
  void diamond(double x, double y, double radius, const std::string& color);

  /// An SVG document with a margin around everything drawn; drawings start at (0, 0).
  std::string document(double margin = 20) const;

 private:
  void reach(double x, double y);

  std::string body_;
  double right_ = 0, bottom_ = 0;
};

}  // namespace kith::tools
