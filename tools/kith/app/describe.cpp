#include "app/describe.hpp"

#include "apps/list.hpp"
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

std::vector<subject> app_subjects() {
  std::vector<subject> all;
  for (const apps::entry* e : apps::app_descriptions()) {
    subject& s = all.emplace_back();
    s.name = e->name;
    s.text = fmt::format("{} ({})", e->summary, e->paper);
    for (const apps::parameter& p : e->parameters) s.options.push_back({p.name, p.what + presets(p), !is_flag(p)});
  }
  return all;
}

std::string to_text(const apps::entry& e) {
  std::string text = fmt::format("{} {}\n", styled(fmt::format("{:<11}", e.name), tone::strong),
                                 folded(fmt::format("{} ({})", e.summary, e.paper), 12));
  for (const apps::parameter& p : e.parameters) {
    text += fmt::format("{:12}--{:<11} {}\n", "", p.name, folded(p.what + presets(p), 26));
  }
  return text;
}

}  // namespace kith::tools
