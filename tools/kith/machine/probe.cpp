#include "machine/probe.hpp"

#include "machine/limits.hpp"
#include "machine/machine.hpp"
#include "machine/memory_probe.hpp"
#include "machine/model.hpp"
#include "machine/scheduler_probe.hpp"
#include "output.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>

#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace kith::tools {

namespace {

std::string name_of_this_machine(const std::string& title) {
  std::string name;
  for (char c : title) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "this-machine" : name;
}

/// This machine, and the part of it that this process may use.
struct usable_machine {
  machine here = discover_machine();
  worker_plan plan = plan_workers(here, process_limits(), std::nullopt, false);
  std::vector<std::vector<int>> cpus;  // by node
  std::size_t first = 0;               // the first node that has CPUs
  std::uint64_t own = 0;               // bytes of the largest cache that belongs to one core
  std::uint64_t shared = 0;            // bytes of the last level, as the system reports them
  int shared_per_node = 1;             // caches of the last level

  usable_machine() : cpus(here.nodes.size()) {
    for (std::size_t w = 0; w < plan.cores.size(); ++w) {
      if (plan.cpus[w] < 0) continue;
      cpus[here.cores[plan.cores[w].index()].node.index()].push_back(plan.cpus[w]);
    }
    while (first < cpus.size() && cpus[first].empty()) ++first;
    if (first == cpus.size()) throw error("kith machine --probe: this process may not choose its cores");
    int level = 0;
    for (const machine::cache& c : here.caches) level = std::max(level, c.bytes != 0 ? c.level : 0);
    int last = 0;
    for (const machine::cache& c : here.caches) {
      if (c.level == level && c.bytes != 0) {
        shared = c.bytes;
        ++last;
      } else if (c.cores.size() == 1) {
        own = std::max(own, c.bytes);
      }
    }
    shared_per_node = std::max(1, last / static_cast<int>(here.nodes.size()));
    if (own == 0) own = 1 << 20;
  }
  int cpu() const { return cpus[first].front(); }
  int os_node() const { return here.nodes[first].os_index; }
  /// Another core, of the same node if possible; -1 if there is none.
  int other_cpu() const {
    if (cpus[first].size() > 1) return cpus[first][1];
    for (std::size_t n = first + 1; n < cpus.size(); ++n) {
      if (!cpus[n].empty()) return cpus[n].front();
    }
    return -1;
  }
};

constexpr std::size_t beyond_caches = std::size_t{256} << 20;  // bytes

double near_gbs(const usable_machine& s) { return sweep_gbs({s.cpu()}, s.os_node(), s.own / 2); }
double memory_gbs(const usable_machine& s) {
  return triad_gbs({s.cpu()}, s.os_node(), beyond_caches / 3 / sizeof(double));
}

struct measured_latency {
  std::string matrix;   // of distances, as in descriptions of machines: 10 is local
  double local_ns = 0;  // of the first node with CPUs
};

/// Measures dependent loads, from each node with CPUs to the memory of each node.
measured_latency measure_latency(const usable_machine& s) {
  const std::vector<std::vector<int>>& cpus = s.cpus;
  measured_latency found;
  for (std::size_t a = 0; a < cpus.size(); ++a) {
    found.matrix += a == 0 ? "[" : ", [";
    const auto latency = [&](std::size_t b) {
      return chase_ns(cpus[a].front(), s.here.nodes[b].os_index, beyond_caches);
    };
    const double local_ns = cpus[a].empty() ? 0 : latency(a);
    if (found.local_ns == 0) found.local_ns = local_ns;
    for (std::size_t b = 0; b < cpus.size(); ++b) {
      int distance = a == b ? 10 : s.here.distance(node_id(static_cast<int>(a)), node_id(static_cast<int>(b)));
      if (a != b && local_ns > 0) distance = std::max(10, static_cast<int>(std::lround(10 * latency(b) / local_ns)));
      found.matrix += (b == 0 ? "" : ", ") + std::to_string(distance);
    }
    found.matrix += "]";
  }
  return found;
}

std::string cores_per_node(const usable_machine& s) {
  std::string list;
  for (const std::vector<int>& of_node : s.cpus) list += (list.empty() ? "" : ", ") + std::to_string(of_node.size());
  return list;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::localtime(&now));
  return text;
}

struct measured_machine {
  double core_gbs = 0, node_gbs = 0;  // memory
  double private_gbs = 0, between_gbs = 0;
  last_level shared;
  measured_latency latency;
  measured_scheduler scheduler;
};

measured_machine measure(const usable_machine& s, progress& p) {
  const std::vector<int>& cpus = s.cpus[s.first];
  measured_machine m;
  p.stage("memory: one core, then all of a node");
  m.core_gbs = memory_gbs(s);
  m.node_gbs = triad_gbs(cpus, s.os_node(), beyond_caches / 3 / sizeof(double));
  p.stage("caches");
  m.private_gbs = near_gbs(s);
  m.shared = measure_last_level(cpus, s.os_node(), s.shared, s.shared_per_node, s.own);
  m.between_gbs = cpus.size() > 1 ? between_gbs(cpus[1], s.cpu(), s.os_node(), s.own / 2) : m.shared.gbs;
  p.stage("latency between nodes");
  m.latency = measure_latency(s);
  p.stage("the scheduler");
  m.scheduler = measure_scheduler(s.cpu(), s.other_cpu());
  return m;
}

/// The text of a machine's file.
std::string description_of(const usable_machine& s, const measured_machine& m) {
  const std::size_t nodes = s.cpus.size();
  return fmt::format(
      R"(# {title}, measured on {date} with `kith machine --probe`.
name = "{name}"
title = "{title}, as measured"

[cores]
nodes = {nodes}
per_node = [{per_node}]
ghz = 1.0

[distance]
matrix = [{distances}]

[cache]
bytes = {cache_bytes}
gbs = {cache_gbs:.1f}
per_node = {caches_per_node}
between_gbs = {between_gbs:.1f}
private_bytes = {private_bytes}
private_gbs = {private_gbs:.1f}

[memory]
gbs = {node_gbs:.1f}
core_gbs = {core_gbs:.1f}
page_bytes = {page_bytes}

[interconnect]
{links}

{scheduler}
[tasks]
metadata_bytes = 0
overlap = 0.5
noise = 0.03

[abstract]
memory_share = 0.5
remote_factor = 2.0

[sources]
"cores" = "measured: what this process may use of it; the clock is not measured"
"distance" = "measured: loads that wait for each other, {local_ns:.0f} ns at home"
"cache" = "measured: what a core can read again at a cache's rate, alone and with all cores of its node"
"cache.private_bytes" = "vendor: as the system says"
"memory.gbs" = "measured: triad on all cores of a node"
"memory.core_gbs" = "measured: triad on one core"
"memory.page_bytes" = "measured: as the system says"
"interconnect" = "assumed: a link between each two nodes, half as fast as a node's memory"
"scheduler" = "{scheduler_source}"
"tasks" = "assumed"
"abstract" = "assumed"
)",
      fmt::arg("title", s.here.name), fmt::arg("date", today()), fmt::arg("name", name_of_this_machine(s.here.name)),
      fmt::arg("nodes", nodes), fmt::arg("per_node", cores_per_node(s)), fmt::arg("distances", m.latency.matrix),
      fmt::arg("cache_bytes", m.shared.bytes), fmt::arg("cache_gbs", m.shared.gbs),
      fmt::arg("caches_per_node", m.shared.per_node), fmt::arg("between_gbs", m.between_gbs),
      fmt::arg("private_bytes", s.own), fmt::arg("private_gbs", m.private_gbs), fmt::arg("node_gbs", m.node_gbs),
      fmt::arg("core_gbs", m.core_gbs), fmt::arg("page_bytes", ::sysconf(_SC_PAGESIZE)),
      fmt::arg("links", nodes > 1 ? fmt::format("kind = \"full\"\ngbs = {:.1f}", m.node_gbs / 2) : "kind = \"none\""),
      fmt::arg("scheduler", text_of(m.scheduler.costs)), fmt::arg("local_ns", m.latency.local_ns),
      fmt::arg("scheduler_source", source_of(m.scheduler)));
}

}  // namespace

core_rates measure_core_rates() {
  const usable_machine s;
  const last_level shared = measure_last_level({s.cpu()}, s.os_node(), s.shared, s.shared_per_node, s.own);
  core_rates r{.memory = memory_gbs(s), .last = shared.gbs, .last_bytes = shared.bytes};
  r.near = std::max(near_gbs(s), r.last);
  r.near_bytes = s.own;
  return r;
}

core_rates core_rates_of(const std::string& machine) {
  const machine_model m = model_by_name(machine);
  const bool own = m.private_bytes != 0;
  return {.memory = m.core_gbs,
          .last = m.cache_gbs,
          .last_bytes = m.cache_bytes,
          .near = own ? m.private_gbs : m.cache_gbs,
          .near_bytes = own ? m.private_bytes : m.cache_bytes};
}

std::string scheduler_table(progress& p) {
  const usable_machine s;
  p.stage("the scheduler");
  const measured_scheduler m = measure_scheduler(s.cpu(), s.other_cpu());
  return "# " + source_of(m) + "\n" + text_of(m.costs);
}

void put_scheduler_table(const std::string& file, const std::string& table) {
  std::ifstream in(file);
  std::ostringstream out;
  bool inside = false, sources = false;
  const std::size_t end = table.find('\n');
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("[")) {
      inside = line.starts_with("[scheduler]");
      sources = line.starts_with("[sources]");
      if (inside) out << table.substr(end + 1) << "\n";
    }
    const bool old = sources && (line.starts_with("scheduler") || line.starts_with("\"scheduler"));
    if (!inside && !old) out << line << "\n";
    if (sources && line.starts_with("[")) out << "\"scheduler\" = \"" << table.substr(2, end - 2) << "\"\n";
  }
  model_from_text(out.str(), file);
  write_text(out.str(), file);
}

std::string probe_machine(progress& p) {
  const usable_machine s;
  const measured_machine m = measure(s, p);
  p.clear();
  return description_of(s, m);
}

}  // namespace kith::tools
