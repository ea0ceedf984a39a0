#include "svg.hpp"

#include "base/replacement.hpp"
#include "base/utf8.hpp"
#include "child.hpp"
#include "output.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <string_view>

namespace kith::tools {

std::string color_of(std::size_t i, std::size_t count) {
  static constexpr const char* few[] = {"#0072b2", "#e69f00", "#009e73", "#d55e00",
                                        "#cc79a7", "#56b4e9", "#f0e442", "#999999"};
  if (count <= std::size(few)) return few[i % std::size(few)];
  return fmt::format("hsl({},{}%,{}%)", 360 * i / count, i % 2 == 0 ? 75 : 55, i % 3 == 0 ? 38 : i % 3 == 1 ? 55 : 72);
}

std::string escaped(const std::string& text) {
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const utf8_character c = first_character(rest);
    const bool allowed = c.valid && c.code >= 0x20 && (c.code < 0x7f || c.code > 0x9f) && (c.code & 0xfffe) != 0xfffe;
    if (!allowed) {
      out += "\ufffd";  // XML cannot represent control characters
    } else if (c.code == '<') {
      out += "&lt;";
    } else if (c.code == '>') {
      out += "&gt;";
    } else if (c.code == '&') {
      out += "&amp;";
    } else if (c.code == '"') {
      out += "&quot;";
    } else if (c.code == '\'') {
      out += "&#39;";
    } else {
      out += rest.substr(0, c.bytes);
    }
    rest.remove_prefix(c.bytes);
  }
  return out;
}

void write_picture(const std::string& svg, const std::string& file) {
  if (file.ends_with(".svg")) {
    write_text(svg, file);
    return;
  }
  if (!file.ends_with(".png")) throw error("picture '" + file + "': expected a name that ends in .svg or .png");
  replacement drawn(file);
  const replacement between(file);  // a temporary file, never put in place
  write_text(svg, between.path());
  child_result done;
  std::string why;
  try {
    done = run_child({"rsvg-convert", "-f", "png", "-o", drawn.path(), between.path()}, {});
  } catch (const error& e) {
    why = e.what();
  }
  if (!why.empty())
    throw error(file + ": " + why + "; PNG needs rsvg-convert (Debian: librsvg2-bin), a name in .svg needs nothing");
  if (!done.clean()) throw error(file + ": rsvg-convert could not make it");
  drawn.put_in_place();
}

}  // namespace kith::tools
