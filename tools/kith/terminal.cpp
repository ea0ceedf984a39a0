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

}  // namespace kith::tools
