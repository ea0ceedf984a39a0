// kith machine: the nodes, caches and cores of a machine as a tree, and the distances of its nodes.
#include "verbs.hpp"

#include "base/printable.hpp"
#include "machine/machine.hpp"
#include "machine/model.hpp"
#include "machine/probe.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "terminal.hpp"

#include <fmt/core.h>

#include <kith/error.hpp>

#include <algorithm>
#include <memory>

namespace kith::tools {

namespace {

/// "core 0 (CPUs 0,8)"; runs of equal cores share one line.
void print_cores(const machine& m, const std::vector<core_id>& cores, int indent) {
  std::vector<int> ids, cpus;
  int core_class = 0;
  const auto flush = [&] {
    if (ids.empty()) return;
    fmt::print("{:{}}{} {}  (CPU {}{})\n", "", indent, ids.size() == 1 ? "core" : "cores", in_ranges(ids),
               in_ranges(cpus), core_class == 0 ? "" : fmt::format("; slower kind {}", core_class));
    ids.clear();
    cpus.clear();
  };
  for (core_id id : cores) {
    const machine::core& c = m.cores[id.index()];
    if (c.core_class != core_class) flush();
    core_class = c.core_class;
    ids.push_back(id.value);
    cpus.insert(cpus.end(), c.cpus.begin(), c.cpus.end());
  }
  flush();
}

/// Prints the cores below the outermost cache, of at most `level`, that several of them share.
void print_below(const machine& m, std::vector<core_id> cores, int level, int indent) {
  for (; level > 1; --level) {
    const auto shared = std::ranges::find_if(m.caches, [&](const machine::cache& c) {
      return c.level == level && c.cores.size() > 1 && std::ranges::find(cores, c.cores.front()) != cores.end();
    });
    if (shared != m.caches.end()) break;
  }
  if (level <= 1) return print_cores(m, cores, indent);
  for (const machine::cache& c : m.caches) {
    if (c.level != level) continue;
    std::vector<core_id> inside;
    for (core_id id : c.cores) {
      if (std::erase(cores, id) != 0) inside.push_back(id);
    }
    if (inside.empty()) continue;
    fmt::print("{:{}}L{}{}\n", "", indent, c.level, c.bytes == 0 ? "" : "  " + in_bytes(c.bytes));
    print_below(m, inside, level - 1, indent + 2);
  }
  if (!cores.empty()) print_below(m, cores, level - 1, indent);
}

void print_tree(const machine& m) {
  std::size_t cpus = 0;
  for (const machine::core& c : m.cores) cpus += c.cpus.size();
  fmt::print("{}{}\n", styled(printable(m.name), tone::strong), m.pretended ? "  (pretended)" : "");
  fmt::print("{}, {}, {}\n", counted(m.nodes.size(), "memory node"), counted(m.cores.size(), "core"),
             counted(cpus, "hardware thread"));
  int outermost = 1;
  for (const machine::cache& c : m.caches) outermost = std::max(outermost, c.level);
  for (const machine::node& n : m.nodes) {
    fmt::print("  node {}{}{}\n", n.id.value, n.memory_bytes == 0 ? "" : "  " + in_bytes(n.memory_bytes),
               n.cores.empty()
                   ? fmt::format("  no cores; nearest node with cores: {}", m.nearest_node_with_cores(n.id).value)
                   : "");
    print_below(m, n.cores, outermost, 4);
  }
}

void print_distances(const machine& m) {
  fmt::print("\n{}\n", styled("Distances between nodes (10: local)", tone::strong));
  const std::size_t last = m.nodes.size() - 1;
  std::size_t width = std::to_string(last).size();
  for (const std::vector<int>& row : m.distances) {
    for (int d : row) width = std::max(width, std::to_string(d).size());
  }
  fmt::print("  {:>{}}  ", "", width);
  for (std::size_t to = 0; to <= last; ++to) fmt::print(" {:>{}}", to, width);
  fmt::print("\n");
  for (std::size_t from = 0; from <= last; ++from) {
    fmt::print("  {:>{}}: ", from, width);
    for (int d : m.distances[from]) fmt::print(" {:>{}}", d, width);
    fmt::print("\n");
  }
}

/// Writes the description to standard output, or to a file.
outcome write_probe(const std::string& file) {
  if (!file.empty()) refuse_output("--output", file, {});
  progress p;
  const std::string text = probe_machine(p);
  if (file.empty()) {
    fmt::print("{}", text);
    return outcome::fine;
  }
  model_from_text(text, file);  // so that a fault in it is found here first
  write_text(text, file);
  return outcome::fine;
}

struct machine_options {
  std::string name, output;
  bool probe = false;
  bool json = false;
};

}  // namespace

std::function<outcome()> add_machine(CLI::App& command) {
  auto o = std::make_shared<machine_options>();
  command.add_option("machine", o->name, "what to show, instead of KITH_MACHINE or this machine")
      ->type_name("MACHINE|FILE|SYNTHETIC");
  command.add_flag("--json", o->json, "write JSON");
  CLI::Option* const probe =
      command.add_flag("--probe", o->probe, "measure this machine, and write a description for `kith sim`");
  command.add_option("-o,--output", o->output, "the description's file (standard output)")
      ->type_name("FILE.toml")
      ->needs(probe);
  command.footer(
      "MACHINE is one of `kith machines`. FILE is an XML file exported by hwloc (`lstopo machine.xml`), or a "
      "description (docs/machines.md). SYNTHETIC is a machine in a line, from large to small: \"node:8 core:10\", "
      "\"pack:2 node:2 l3:1 core:8 pu:2\"; an extra word has the distances between nodes: \"distance:21\", or the "
      "matrix \"distance:10,16/16,10\".\n"
      "JSON: {\"name\", \"pretended\", \"nodes\": [{\"cores\": [...], ...}], \"cores\", \"caches\", \"distances\": "
      "[[...]]}\n"
      "Exit code: 0, or 2 if the machine cannot be understood.");
  return [o, &command] {
    if (o->probe) return write_probe(o->output);
    const machine m = command.count("machine") != 0 ? machine_by_name(o->name) : current_machine();
    if (o->json) {
      fmt::print("{}\n", to_json(m));
    } else {
      print_tree(m);
      print_distances(m);
    }
    return outcome::fine;
  };
}

}  // namespace kith::tools
