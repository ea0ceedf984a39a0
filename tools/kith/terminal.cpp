#include "terminal.hpp"

#include "base/environment.hpp"

#include <fmt/color.h>
#include <unistd.h>

namespace kith::tools {

namespace {

bool coloured() {
  static const bool yes = isatty(STDOUT_FILENO) == 1 && !environment("NO_COLOR") && environment("TERM") != "dumb";
  return yes;
}

fmt::text_style style_of(tone t) {
  switch (t) {
    case tone::plain: break;
    case tone::strong: return fmt::emphasis::bold;
    case tone::faint: return fmt::emphasis::faint;
    case tone::good: return fg(fmt::terminal_color::green);
    case tone::warning: return fg(fmt::terminal_color::yellow);
    case tone::bad: return fg(fmt::terminal_color::red);
  }
  return {};
}

}  // namespace

std::string styled(std::string_view text, tone t) {
  if (!coloured() || t == tone::plain) return std::string(text);
  return fmt::format(style_of(t), "{}", text);
}

std::string folded(std::string_view text, std::size_t indent, std::size_t width) {
  std::string lines;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size() == text.size() ? word.size() : word.size() + 1);
    if (column > indent && column + 1 + word.size() > width) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

}  // namespace kith::tools
