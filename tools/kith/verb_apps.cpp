// kith apps: the programs that come with Kith, and their parameters.
#include "verbs.hpp"

#include "apps/list.hpp"
#include "terminal.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace kith::tools {

namespace {

bool is_flag(const apps::parameter& p) { return p.standard == apps::flag; }

void print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const apps::entry* e : apps::app_list()) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    for (const apps::parameter& p : e->parameters) {
      nlohmann::ordered_json one = {{"name", p.name}, {"what", p.what}, {"flag", is_flag(p)}};
      if (!is_flag(p))
        one.update({{"default", p.standard}, {"small", p.small}, {"paper", p.paper != nullptr ? p.paper : p.standard}});
      parameters.push_back(std::move(one));
    }
    all.push_back(
        {{"name", e->name}, {"paper", e->paper}, {"summary", e->summary}, {"parameters", std::move(parameters)}});
  }
  fmt::print("{}\n", all.dump(1));
}

void print_table() {
  for (const apps::entry* e : apps::app_list()) {
    fmt::print("{} {}  {}\n", styled(fmt::format("{:<11}", e->name), tone::strong), e->summary,
               styled(fmt::format("({})", e->paper), tone::faint));
    for (const apps::parameter& p : e->parameters) {
      const std::string standard = is_flag(p) || *p.standard == '\0'
                                       ? ""
                                       : fmt::format(" ({}; small: {}{})", p.standard, p.small,
                                                     p.paper == nullptr ? "" : fmt::format("; paper: {}", p.paper));
      fmt::print("{:12}--{:<11} {}{}\n", "", p.name, p.what, standard);
    }
  }
  fmt::print("\n`kith app NAME --small` runs one; its result is checked.\n");
}

}  // namespace

std::function<outcome()> add_apps(CLI::App& command) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "write JSON");
  command.footer(
      "JSON: [{\"name\", \"paper\", \"summary\", \"parameters\": [...]}]\n"
      "Exit code: 0.");
  return [json] {
    if (*json) {
      print_json();
    } else {
      print_table();
    }
    return outcome::fine;
  };
}

}  // namespace kith::tools
