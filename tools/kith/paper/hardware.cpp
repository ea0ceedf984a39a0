// The paper on token and reference scheduling, section 5: the policies' misses, traffic and speed-ups over FIFO, the
// organisation of the queues, and the latency of the global scheduling unit.
#include "paper/reproduction.hpp"
#include "paper/traced.hpp"
#include "sim/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

constexpr const char* hardware_machine_name = "cmp-32";
constexpr int mesh_columns = 8;
constexpr std::size_t paper_programs = 6;

struct mesh {
  int columns, rows;
  int cores() const { return columns * rows; }
};
constexpr mesh chips[] = {{2, 1}, {2, 2}, {4, 2}, {4, 4}, {8, 4}};

/// A chip of its own: the tiles in the corner of the large one, with the scheduling unit in their middle.
machine_model chip(const machine_model& large, mesh of) {
  machine_model m = large;
  machine& h = m.hardware;
  h.name = fmt::format("{}x{} tiles of {}", of.columns, of.rows, large.hardware.name);
  h.cores.clear();
  h.nodes.clear();
  h.caches.clear();
  h.distances.assign(static_cast<std::size_t>(of.cores()), {});
  const auto there = [&](int tile) {
    const int in_large = tile / of.columns * mesh_columns + tile % of.columns;
    return static_cast<std::size_t>(in_large);
  };
  for (int a = 0; a < of.cores(); ++a) {
    const core_id core(a);
    machine::node node = large.hardware.nodes[there(a)];
    node.id = node_id(a);
    node.os_index = a;
    node.cores = {core};
    h.nodes.push_back(node);
    h.cores.push_back({core, node.id, {a}});
    h.caches.push_back({3, large.cache_bytes, 64, {core}});
    for (int b = 0; b < of.cores(); ++b)
      h.distances[static_cast<std::size_t>(a)].push_back(large.hardware.distances[there(a)][there(b)]);
  }
  m.speeds.assign(h.cores.size(), 1);
  m.links.clear();
  for (int a = 0; a < of.cores(); ++a) {
    const auto link_to = [&](int b) {
      m.links.push_back({fmt::format("node {}", a), fmt::format("node {}", b), large.links.front().gbs});
    };
    if (a % of.columns + 1 < of.columns) link_to(a + 1);
    if (a + of.columns < of.cores()) link_to(a + of.columns);
  }
  m.unit.node = node_id(of.rows / 2 * of.columns + of.columns / 2);
  return m;
}

sim::settings settings_for(const std::string& policy, int seed) {
  sim::settings s;
  s.policy = policy;
  s.seed = static_cast<std::uint64_t>(seed) + 1;
  s.fidelity = sim::fidelity::line;
  s.cold = true;
  s.hardware.used = true;
  return s;
}

/// The programs at the sizes of the reproduction: the standard ones, but for a product of matrices whose panels are
/// small enough for a first-level cache.
std::vector<std::string> words_of(const std::string& program) {
  if (program == "panels") return {"panels", "--size", "384", "--block", "8"};
  return {program};
}

/// What is run: a policy, on queues of its kind.
struct way {
  std::string series, policy;
  std::optional<std::uint32_t> cycles, prefetch;
};

/// Means over the seeds.
struct means {
  double seconds = 0, first_misses = 0, misses = 0, miss_rate = 0, bytes = 0, nanojoules = 0, overhead = 0;
  void add(const sim::result& r, int seeds) {
    seconds += r.seconds / seeds;
    const sim::line_figures& lines = *r.lines;
    first_misses += static_cast<double>(lines.first_misses) / seeds;
    misses += static_cast<double>(lines.second_misses) / seeds;
    miss_rate += 100 * static_cast<double>(lines.first_misses) / static_cast<double>(lines.touches) / seeds;
    bytes += static_cast<double>(r.network_bytes) / seeds;
    nanojoules += r.network_nj / seeds;
    overhead += r.overhead_percent() / seeds;
  }
};

struct point {
  std::string program;
  int cores;
  std::vector<means> of_way;
};

std::vector<point> run_all(const reproduction& about, const std::vector<way>& ways, int seeds,
                           const paper_progress& tell) {
  const machine_model large = model_by_name(hardware_machine_name);
  std::vector<point> points;
  for (const std::string& name : about.parts) {
    tell(name, static_cast<double>(points.size()) / static_cast<double>(about.parts.size() * std::size(chips)));
    const sim::program p = record_traced(words_of(name), large);
    for (const mesh& of : chips) {
      tell(name, static_cast<double>(points.size()) / static_cast<double>(about.parts.size() * std::size(chips)));
      std::vector<sim::settings> runs;
      for (const way& w : ways) {
        for (int seed = 0; seed < seeds; ++seed) {
          sim::settings s = settings_for(w.policy, seed);
          s.hardware.cycles = w.cycles;
          s.hardware.prefetch = w.prefetch;
          runs.push_back(std::move(s));
        }
      }
      const std::vector<sim::result> results = simulate_all(p, chip(large, of), runs);
      points.push_back({name, of.cores(), std::vector<means>(ways.size())});
      for (std::size_t i = 0; i < results.size(); ++i)
        points.back().of_way[i / static_cast<std::size_t>(seeds)].add(results[i], seeds);
    }
  }
  return points;
}

using printed_values = std::map<std::pair<std::string, int>, double>;  // by series and cores, of the mean

/// A row for each way, program and chip, and the geometric mean over the programs. value(base, one) is what is shown;
/// the base is the first way. The paper's means are of all its programs: with --only there are none beside.
template <class Value>
void add_rows(reproduced& out, const std::vector<point>& points, const std::vector<way>& ways,
              const std::string& metric, const printed_values& printed, const Value& value) {
  for (std::size_t w = 0; w < ways.size(); ++w) {
    for (const mesh& of : chips) {
      double logarithms = 0;
      std::size_t programs = 0;
      const std::string cores = std::to_string(of.cores());
      for (const point& p : points) {
        if (p.cores != of.cores()) continue;
        const double here = value(p.of_way[0], p.of_way[w]);
        out.rows.push_back({ways[w].series, metric, cores, {}, {}, here, p.program});
        logarithms += std::log(here);
        ++programs;
      }
      const auto said = printed.find({ways[w].series, of.cores()});
      out.rows.push_back(
          {ways[w].series,
           metric,
           cores,
           said == printed.end() || programs < paper_programs ? std::nullopt : std::optional(said->second),
           {},
           std::exp(logarithms / static_cast<double>(programs)),
           "mean"});
    }
  }
}

const std::vector<way> hardware_policies = {
    {"fifo", "fifo", {}, {}},   {"random", "random", {}, {}},       {"source", "source", {}, {}},
    {"token", "token", {}, {}}, {"reference", "reference", {}, {}}, {"reference, 8", "reference:history=8", {}, {}},
};

std::vector<std::string> notes() {
  return {
      "chips of 2x1, 2x2, 4x2, 4x4 and 8x4 tiles of cmp-32; the means are geometric, over the paper's six programs",
      "the paper prints no sizes: those of `kith app`, but for a product of 384 rows in blocks of 8; all programs are "
      "recorded with their addresses, on one worker",
      "fidelity line; caches are empty at the start; a core takes 9 cycles between two accesses, for all programs "
      "(machines/cmp-32.toml)",
      "'8': with a history of 8 references, instead of 16; the paper prints no size"};
}

reproduced made(std::vector<paper_row> rows = {}) { return {std::move(rows), notes(), hardware_machine_name}; }

double percent_of(double base, double value) { return base == 0 ? 100 : 100 * value / base; }

}  // namespace

reproduced hardware_misses(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out = made();
  const std::vector<point> points = run_all(about, hardware_policies, seeds, tell);
  add_rows(out, points, hardware_policies, "l2", {{{"reference", 32}, 50}},
           [](const means& fifo, const means& one) { return percent_of(fifo.misses, one.misses); });
  add_rows(out, points, hardware_policies, "l1", {},
           [](const means& fifo, const means& one) { return percent_of(fifo.first_misses, one.first_misses); });
  for (paper_row& r : out.rows) {
    if (r.series != "reference" || r.x != "32") continue;
    if (r.metric == "l2" && r.program == "routing") r.paper = 30;
    if (r.metric == "l1" && (r.program == "routing" || r.program == "refinement"))
      r.paper_says = "no significant effect";
  }
  return out;
}

reproduced hardware_kmeans(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out = made();
  const std::vector<point> points = run_all(about, hardware_policies, seeds, tell);
  add_rows(out, points, hardware_policies, "l1_miss_rate", {},
           [](const means&, const means& one) { return one.miss_rate; });
  add_rows(out, points, hardware_policies, "speedup", {},
           [](const means& fifo, const means& one) { return fifo.seconds / one.seconds; });
  std::erase_if(out.rows, [](const paper_row& r) { return r.program == "mean"; });
  for (paper_row& r : out.rows) {
    if (r.series == "reference" && r.metric == "speedup")
      r.paper_says = r.program == "kmeans_list" ? "significant improvement" : "no significant impact";
  }
  out.notes.emplace_back("l1_miss_rate: misses of the first level in percent of the accesses");
  return out;
}

reproduced hardware_traffic(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out = made();
  const std::vector<point> points = run_all(about, hardware_policies, seeds, tell);
  add_rows(out, points, hardware_policies, "traffic", {{{"reference", 32}, 50}},
           [](const means& fifo, const means& one) { return percent_of(fifo.bytes, one.bytes); });
  return out;
}

reproduced hardware_power(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out = made();
  add_rows(out, run_all(about, hardware_policies, seeds, tell), hardware_policies, "power", {},
           [](const means& fifo, const means& one) {
             return percent_of(fifo.nanojoules / fifo.seconds, one.nanojoules / one.seconds);
           });
  out.notes.emplace_back("dynamic power: energy of the flits over the time of the run");
  return out;
}

reproduced hardware_speedup(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out = made();
  add_rows(out, run_all(about, hardware_policies, seeds, tell), hardware_policies, "speedup",
           {{{"reference", 32}, 1.14}}, [](const means& fifo, const means& one) { return fifo.seconds / one.seconds; });
  return out;
}

reproduced hardware_organisation(const reproduction& about, int seeds, const paper_progress& tell) {
  const std::vector<way> ways = {{"global", "reference:organisation=global", {}, {}},
                                 {"distributed", "reference", {}, {}},
                                 {"distributed, 8", "reference:history=8", {}, {}}};
  reproduced out = made();
  add_rows(out, run_all(about, ways, seeds, tell), ways, "performance",
           {{{"distributed", 2}, 0.96}, {{"distributed", 32}, 0.97}},
           [](const means& global, const means& one) { return global.seconds / one.seconds; });
  return out;
}

reproduced hardware_latency(const reproduction& about, int seeds, const paper_progress& tell) {
  std::vector<way> ways;
  for (std::uint32_t prefetch : {1u, 0u}) {
    for (std::uint32_t cycles : {0u, 20u, 300u, 3000u})
      ways.push_back({fmt::format("gsu-{}{}", cycles, prefetch == 0 ? " without prefetching" : ""),
                      "reference:history=8", cycles, prefetch});
  }
  reproduced out = made();
  const std::vector<point> points = run_all(about, ways, seeds, tell);
  add_rows(out, points, ways, "time", {},
           [](const means& none, const means& one) { return one.seconds / none.seconds; });
  add_rows(out, points, ways, "overhead_percent", {}, [](const means&, const means& one) { return one.overhead; });
  for (paper_row& r : out.rows) {
    if (r.series == "gsu-300" && r.metric == "time" && r.program == "mean" && about.parts.size() == paper_programs)
      r.paper_says = "nearly no effect";
  }
  out.notes.emplace_back("time: over that of a unit of 0 cycles with a buffer of one task");
  out.notes.emplace_back(
      "overhead_percent: of the cores' time, what they create tasks and wait for the unit's answers");
  return out;
}

}  // namespace kith::tools
