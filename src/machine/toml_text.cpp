#include "machine/toml_text.hpp"

#include "base/printable.hpp"

#include <kith/error.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace kith {

namespace {

bool breaks(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const toml_assertion&) {
    return true;
  } catch (const toml::parse_error&) {
  }
  return false;
}

/// The line that breaks an assertion: the last line of the shortest prefix that does.
std::size_t line_that_breaks(std::string_view text) {
  std::vector<std::size_t> ends;  // the ends of lines
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || i + 1 == text.size()) ends.push_back(i + 1);
  }
  std::size_t least = 0, most = ends.size();
  while (least + 1 < most) {
    const std::size_t middle = (least + most) / 2;
    (breaks(text.substr(0, ends[middle - 1])) ? most : least) = middle;
  }
  return most;
}

}  // namespace

toml::table parse_toml(const std::string& text, const std::string& file) {
  if (text.size() > most_toml_bytes)
    throw error(
        file + ": has " + std::to_string(text.size()) + " bytes, expected up to " + std::to_string(most_toml_bytes),
        error_kind::input);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& e) {
    throw error(file + ":" + std::to_string(e.source().begin.line) + ": " + printable(e.description()),
                error_kind::input);
  } catch (const toml_assertion&) {
    throw error(file + ":" + std::to_string(line_that_breaks(text)) +
                    ": no TOML; expected [table], or key = value with a name or a text as the key",
                error_kind::input);
  }
}

}  // namespace kith
