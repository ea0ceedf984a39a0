#include "svg.hpp"

#include "child.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <fstream>

namespace kith::tools {

namespace {

void write_text(const std::string& text, const std::string& file) {
  std::ofstream out(file);
  out << text;
  if (!out.flush()) throw error(file + ": cannot be written");
}

}  // namespace

std::string color_of(std::size_t i, std::size_t count) {
  static constexpr const char* few[] = {"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                        "#cc79a7", "#56b4e9", "#f0e442", "#999999"};
  if (count <= std::size(few)) return few[i % std::size(few)];
  return fmt::format("hsl({},{}%,{}%)", 360 * i / count, i % 2 == 0 ? 75 : 55, i % 3 == 0 ? 38 : i % 3 == 1 ? 55 : 72);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      default: out += c;
    }
  }
  return out;
}

void write_picture(const std::string& svg, const std::string& file) {
  if (file.ends_with(".svg")) {
    write_text(svg, file);
    return;
  }
  if (!file.ends_with(".png")) throw error("picture '" + file + "': expected a name that ends in .svg or .png");
  const std::string between = file + ".svg";
  write_text(svg, between);
  child_result done;
  std::string why;
  try {
    done = run_child({"rsvg-convert", "-o", file, between}, {});
  } catch (const error& e) {
    why = e.what();
  }
  std::error_code ignored;
  std::filesystem::remove(between, ignored);
  if (!why.empty())
    throw error(file + ": " + why + "; PNG needs rsvg-convert (Debian: librsvg2-bin), a name in .svg needs nothing");
  if (!done.clean()) throw error(file + ": rsvg-convert could not make it");
}

}  // namespace kith::tools
