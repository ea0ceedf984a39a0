// kith apps: the programs that come with Kith, and their parameters.
#include "verbs.hpp"

#include "app/describe.hpp"
#include "apps/list.hpp"
#include "named.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace kith::tools {

namespace {

void apps_print_json(const std::vector<const apps::entry*>& entries) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const apps::entry* e : entries) {
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

void apps_print_table(const std::vector<const apps::entry*>& entries) {
  for (const apps::entry* e : entries) fmt::print("{}", to_text(*e));
  fmt::print("\n`kith app NAME --small` runs one; its result is checked.\n");
}

}  // namespace

std::function<outcome()> add_apps(CLI::App& command) {
  auto json = std::make_shared<bool>(false);
  auto names = std::make_shared<std::vector<std::string>>();
  command.add_option("apps", *names, "only these")->type_name("APP");
  command.add_flag("--json", *json, "write JSON");
  command.footer(
      "JSON: [{\"name\", \"paper\", \"summary\", \"dry_only\", \"parameters\": [...]}]\n"
      "Exit code: 0, or 2 if there is no program of a name.");
  return [json, names] {
    const std::vector<const apps::entry*> entries =
        chosen("program", apps::app_descriptions(), &apps::entry::name, *names);
    if (*json) {
      apps_print_json(entries);
    } else {
      apps_print_table(entries);
    }
    return outcome::fine;
  };
}

}  // namespace kith::tools
