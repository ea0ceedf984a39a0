#include "app/describe.hpp"

#include "terminal.hpp"

#include <fmt/format.h>

namespace kith::tools {

namespace {

std::string presets(const apps::parameter& p) {
  if (is_flag(p)) return "";
  std::string text;
  const auto add = [&text](const char* lead, const char* value) {
    if (value != nullptr && *value != '\0') text += fmt::format("{}{}{}", text.empty() ? "" : "; ", lead, value);
  };
  add("", p.standard);
  add("small: ", p.small);
  add("paper: ", p.paper);
  return text.empty() ? "" : " (" + text + ")";
}

}  // namespace

std::string to_text(const apps::entry& e) {
  std::string text = fmt::format("{} {}  {}\n", styled(fmt::format("{:<11}", e.name), tone::strong), e.summary,
                                 styled(fmt::format("({})", e.paper), tone::faint));
  for (const apps::parameter& p : e.parameters) {
    text += fmt::format("{:12}--{:<11} {}{}\n", "", p.name, p.what, presets(p));
  }
  return text;
}

}  // namespace kith::tools
