// kith machines: the described machines on which recordings can be simulated.
#include "verbs.hpp"

#include "base/printable.hpp"
#include "json_text.hpp"
#include "machine/model.hpp"
#include "numbers.hpp"
#include "terminal.hpp"

#include <fmt/core.h>

#include <memory>

namespace kith::tools {

namespace {

struct machines_options {
  bool json = false;
  std::string name;
};

nlohmann::json to_json(const machine_model& m) {
  return {{"name", m.hardware.name},          {"title", m.title}, {"paper", m.paper},
          {"nodes", m.hardware.nodes.size()}, {"file", m.file},   {"cores", m.hardware.cores.size()}};
}

void print_sources(const machine_model& m) {
  fmt::print("{}  {}\n{}\n\n", styled(printable(m.hardware.name), tone::strong), printable(m.title), printable(m.file));
  for (const auto& [key, text] : m.sources) fmt::print("  {:28} {}\n", printable(key), folded(printable(text), 31));
}

}  // namespace

std::function<outcome()> add_machines(CLI::App& command) {
  auto o = std::make_shared<machines_options>();
  command.add_option("name", o->name, "one of them, or a file: where each of its numbers is from")
      ->type_name("MACHINE|FILE");
  command.add_flag("--json", o->json, "write JSON");
  command.footer(
      "The descriptions are TOML files (docs/machines.md explains them); KITH_MACHINES names another folder of them.\n"
      "JSON: [{\"name\", \"title\", \"paper\", \"nodes\", \"cores\", \"file\"}]\n"
      "Exit code: 0, or 2 if a description cannot be understood.");
  return [o] {
    if (!o->name.empty() && !o->json) {
      print_sources(model_by_name(o->name));
      return outcome::fine;
    }
    nlohmann::json all = nlohmann::json::array();
    for (const std::string& name : o->name.empty() ? model_names_or_throw() : std::vector{o->name}) {
      const machine_model m = model_by_name(name);
      if (o->json) {
        all.push_back(to_json(m));
        continue;
      }
      fmt::print("{:<17} {:>3} nodes {:>4} cores  {:8} {}\n", printable(m.hardware.name), m.hardware.nodes.size(),
                 m.hardware.cores.size(), printable(m.paper), folded(printable(m.title), 49));
    }
    if (o->json) fmt::print("{}\n", json_text(all, 2));
    return outcome::fine;
  };
}

}  // namespace kith::tools
