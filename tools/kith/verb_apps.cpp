// kith apps: the programs that come with Kith, and their parameters.
#include "verbs.hpp"

#include "app/describe.hpp"
#include "apps/list.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace kith::tools {

namespace {

void print_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const apps::entry* e : apps::app_descriptions()) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    for (const apps::parameter& p : e->parameters) {
      nlohmann::ordered_json one = {{"name", p.name}, {"what", p.what}, {"flag", is_flag(p)}};
      if (!is_flag(p))
        one.update({{"default", p.standard}, {"small", p.small}, {"paper", p.paper != nullptr ? p.paper : p.standard}});
      parameters.push_back(std::move(one));
    }
    all.push_back({{"name", e->name},
                   {"paper", e->paper},
                   {"summary", e->summary},
                   {"dry_only", e->dry_only},
                   {"parameters", std::move(parameters)}});
  }
  fmt::print("{}\n", all.dump(1));
}

void print_table() {
  for (const apps::entry* e : apps::app_descriptions()) fmt::print("{}", to_text(*e));
  fmt::print("\n`kith app NAME --small` runs one; its result is checked.\n");
}

}  // namespace

std::function<outcome()> add_apps(CLI::App& command) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "write JSON");
  command.footer(
      "JSON: [{\"name\", \"paper\", \"summary\", \"dry_only\", \"parameters\": [...]}]\n"
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
