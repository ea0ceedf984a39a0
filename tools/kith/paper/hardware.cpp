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
#include <set>
#include <span>
#include <string>
#include <string_view>
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
machine_model chip(const machine_model& large, mesh size) {
  machine_model m = large;
  machine& h = m.hardware;
  h.name = fmt::format("{}x{} tiles of {}", size.columns, size.rows, large.hardware.name);
  h.cores.clear();
  h.nodes.clear();
  h.caches.clear();
  h.distances.assign(static_cast<std::size_t>(size.cores()), {});
  const auto there = [&](int tile) {
    const int in_large = tile / size.columns * mesh_columns + tile % size.columns;
    return static_cast<std::size_t>(in_large);
  };
  for (int a = 0; a < size.cores(); ++a) {
    const core_id core(a);
    machine::node node = large.hardware.nodes[there(a)];
    node.id = node_id(a);
    node.os_index = a;
    node.cores = {core};
    h.nodes.push_back(node);
    h.cores.push_back({core, node.id, {a}});
    h.caches.push_back({3, large.cache_bytes, 64, {core}});
    for (int b = 0; b < size.cores(); ++b)
      h.distances[static_cast<std::size_t>(a)].push_back(large.hardware.distances[there(a)][there(b)]);
  }
  m.speeds.assign(h.cores.size(), 1);
  m.links.clear();
  for (int a = 0; a < size.cores(); ++a) {
    const auto link_to = [&](int b) {
      m.links.push_back({fmt::format("node {}", a), fmt::format("node {}", b), large.links.front().gbs});
    };
    if (a % size.columns + 1 < size.columns) link_to(a + 1);
    if (a + size.columns < size.cores()) link_to(a + size.columns);
  }
  m.unit.node = node_id(size.rows / 2 * size.columns + size.columns / 2);
  return m;
}

sim::run_options run_options_for(const std::string& policy, int seed) {
  sim::run_options s;
  s.policy = policy;
  s.seed = static_cast<std::uint64_t>(seed) + 1;
  s.fidelity = sim::fidelity::line;
  s.cold = true;
  s.hardware.used = true;
  return s;
}

/// The programs at the sizes of the reproduction: the standard ones, except a product of matrices whose panels are
/// small enough for a first-level cache.
std::vector<std::string> words_of(const std::string& program) {
  if (program == "panels") return {"panels", "--size", "384", "--block", "8"};
  return {program};
}

/// A policy, on queues of its kind.
struct way {
  std::string series, policy;
  std::optional<std::uint32_t> cycles = {}, prefetch = {}, interval = {};
  std::size_t base = 0;  // the way that it is compared with
};

/// Means over the runs.
struct means {
  double seconds = 0, first_misses = 0, misses = 0, miss_rate = 0, bytes = 0, nanojoules = 0, overhead = 0;
  void add(const sim::result& r, int runs) {
    seconds += r.seconds / runs;
    const sim::line_figures& lines = *r.lines;
    first_misses += static_cast<double>(lines.first_misses) / runs;
    misses += static_cast<double>(lines.second_misses) / runs;
    miss_rate += 100 * static_cast<double>(lines.first_misses) / static_cast<double>(lines.touches) / runs;
    bytes += static_cast<double>(r.network_bytes) / runs;
    nanojoules += r.network_nj / runs;
    overhead += r.overhead_percent() / runs;
  }
};

struct point {
  std::string program;
  int cores;
  std::vector<means> of_way;
};

/// Every way runs once for each seed, on a recording of that seed: two recordings of a program differ, because its
/// static data is elsewhere.
std::vector<point> run_all(const reproduction& about, const std::vector<way>& ways, int seeds,
                           const paper_progress& tell, std::span<const mesh> on = chips) {
  const machine_model large = model_by_name(hardware_machine_name);
  std::vector<point> points;
  std::size_t done = 0;
  const std::size_t all = about.parts.size() * static_cast<std::size_t>(seeds);
  for (const std::string& name : about.parts) {
    const std::size_t first = points.size();
    for (const mesh& size : on) points.push_back({name, size.cores(), std::vector<means>(ways.size())});
    for (int seed = 0; seed < seeds; ++seed) {
      tell(name, static_cast<double>(done++) / static_cast<double>(all));
      const sim::program p = record_traced(words_of(name), large);
      std::vector<sim::result> results(on.size() * ways.size());
      side_by_side(results.size(), [&](std::size_t i) {
        const way& w = ways[i % ways.size()];
        sim::run_options s = run_options_for(w.policy, seed);
        s.hardware.cycles = w.cycles;
        s.hardware.prefetch = w.prefetch;
        s.hardware.interval = w.interval;
        results[i] = sim::simulate(p, chip(large, on[i / ways.size()]), s);
      });
      for (std::size_t i = 0; i < results.size(); ++i)
        points[first + i / ways.size()].of_way[i % ways.size()].add(results[i], seeds);
    }
  }
  return points;
}

using printed_values = std::map<std::pair<std::string, int>, double>;  // by series and cores, of the mean

/// Adds a row for each way, program and chip, and the geometric mean over the programs. value(base, one) is the figure.
/// The paper's means are of all its programs, so with --only none are printed.
template <class Value>
void add_rows(reproduced& out, const std::vector<point>& points, const std::vector<way>& ways,
              const std::string& metric, const printed_values& printed, const Value& value) {
  for (std::size_t w = 0; w < ways.size(); ++w) {
    std::map<int, std::vector<double>> of_cores;
    for (const point& p : points) {
      const double here = value(p.of_way[ways[w].base], p.of_way[w]);
      out.rows.push_back({ways[w].series, metric, std::to_string(p.cores), {}, {}, here, p.program});
      of_cores[p.cores].push_back(here);
    }
    for (const auto& [cores, values] : of_cores) {
      double logarithms = 0;
      for (const double v : values) logarithms += std::log(v);
      const auto said = printed.find({ways[w].series, cores});
      const bool is_comparable = said != printed.end() && values.size() == paper_programs;
      out.rows.push_back({ways[w].series,
                          metric,
                          std::to_string(cores),
                          is_comparable ? std::optional(said->second) : std::nullopt,
                          {},
                          std::exp(logarithms / static_cast<double>(values.size())),
                          "mean"});
    }
  }
}

const std::vector<std::string> hardware_policies = {"fifo", "random", "source", "token", "reference"};

std::vector<std::string> notes() {
  return {
      "chips of 2x1, 2x2, 4x2, 4x4 and 8x4 tiles of cmp-32; the means are geometric, over the paper's six programs",
      "the paper prints no sizes: those of `kith app`, but for a product of 384 rows in blocks of 8; all programs are "
      "recorded with their addresses, on one worker, once for each seed",
      "fidelity line; caches are empty at the start; a core takes 9 cycles between two accesses, for all programs "
      "(machines/cmp-32.toml)"};
}

reproduced made() { return {{}, notes(), hardware_machine_name}; }

double percent_of(double base, double value) { return base == 0 ? 100 : 100 * value / base; }

double power(const means& m) { return m.nanojoules / m.seconds; }
double speedup(const means& base, const means& one) { return base.seconds / one.seconds; }
double second_misses(const means& base, const means& one) { return percent_of(base.misses, one.misses); }

struct figure {
  const char* metric;
  printed_values printed;
  double (*value)(const means& fifo, const means& one);
};
const figure figures[] = {
    {"l2", {{{"reference", 32}, 50}}, second_misses},
    {"l1", {}, [](const means& fifo, const means& one) { return percent_of(fifo.first_misses, one.first_misses); }},
    {"traffic",
     {{{"reference", 32}, 50}},
     [](const means& fifo, const means& one) { return percent_of(fifo.bytes, one.bytes); }},
    {"power", {}, [](const means& fifo, const means& one) { return percent_of(power(fifo), power(one)); }},
    {"l1_miss_rate", {}, [](const means& /*fifo*/, const means& one) { return one.miss_rate; }},
    {"speedup", {{{"reference", 32}, 1.14}}, speedup},
};

/// The figures with these metrics, all from the same runs.
reproduced figures_of(const reproduction& about, int seeds, const paper_progress& tell,
                      const std::set<std::string_view>& metrics) {
  std::vector<way> ways;
  for (const std::string& policy : hardware_policies) ways.push_back({policy, policy});
  const std::vector<point> points = run_all(about, ways, seeds, tell);
  reproduced out = made();
  for (const figure& f : figures) {
    if (metrics.contains(f.metric)) add_rows(out, points, ways, f.metric, f.printed, f.value);
  }
  for (paper_row& r : out.rows) {
    if (r.series != "reference" || r.x != "32") continue;
    if (r.metric == "l2" && r.program == "routing") r.paper = 30;
    if (r.metric == "l1" && (r.program == "routing" || r.program == "refinement"))
      r.paper_says = "no significant effect";
  }
  if (metrics.contains("l1_miss_rate"))
    out.notes.emplace_back("l1_miss_rate: misses of the first level in percent of the accesses");
  if (metrics.contains("power")) out.notes.emplace_back("dynamic power: energy of the flits over the time of the run");
  return out;
}

}  // namespace

reproduced hardware_figures(const reproduction& about, int seeds, const paper_progress& tell) {
  std::set<std::string_view> all;
  for (const figure& f : figures) all.insert(f.metric);
  return figures_of(about, seeds, tell, all);
}

reproduced hardware_misses(const reproduction& about, int seeds, const paper_progress& tell) {
  return figures_of(about, seeds, tell, {"l1", "l2"});
}

reproduced hardware_traffic(const reproduction& about, int seeds, const paper_progress& tell) {
  return figures_of(about, seeds, tell, {"traffic"});
}

reproduced hardware_power(const reproduction& about, int seeds, const paper_progress& tell) {
  return figures_of(about, seeds, tell, {"power"});
}

reproduced hardware_speedup(const reproduction& about, int seeds, const paper_progress& tell) {
  return figures_of(about, seeds, tell, {"speedup"});
}

reproduced hardware_kmeans(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out = figures_of(about, seeds, tell, {"l1_miss_rate", "speedup"});
  std::erase_if(out.rows, [](const paper_row& r) { return r.program == "mean"; });
  for (paper_row& r : out.rows) {
    if (r.series == "reference" && r.metric == "speedup")
      r.paper_says = r.program == "kmeans_list" ? "significant improvement" : "no significant impact";
  }
  return out;
}

reproduced hardware_organisation(const reproduction& about, int seeds, const paper_progress& tell) {
  const std::vector<way> ways{{.series = "global", .policy = "reference:organisation=global"},
                              {.series = "distributed", .policy = "reference"},
                              {.series = "distributed, grouped", .policy = "reference:grouped=on"},
                              {.series = "global, token", .policy = "token:organisation=global", .base = 3},
                              {.series = "distributed, token", .policy = "token", .base = 3}};
  reproduced out = made();
  add_rows(out, run_all(about, ways, seeds, tell), ways, "performance",
           {{{"distributed", 2}, 0.96}, {{"distributed", 32}, 0.97}}, speedup);
  out.notes.emplace_back("performance: over the global queue of the same policy; reference, unless one is named");
  return out;
}

reproduced hardware_ablations(const reproduction& about, int seeds, const paper_progress& tell) {
  std::vector<way> ways{{"fifo", "fifo"}};
  for (const char* policy : {"fifo:organisation=deques",
                             "random",
                             "random:organisation=deques",
                             "source",
                             "source:organisation=global",
                             "token",
                             "token:cap=100",
                             "token:cap=200",
                             "token:cap=1000000",
                             "token:organisation=global",
                             "reference",
                             "reference:cap=100",
                             "reference:cap=200",
                             "reference:cap=1000000",
                             "reference:organisation=global",
                             "reference:history=8",
                             "reference:history=32",
                             "reference:decay=80",
                             "reference:kept=filters",
                             "reference:ahead=on",
                             "reference:grouped=on",
                             "reference:grouped=on,ahead=on"})
    ways.push_back({policy, policy});
  reproduced out = made();
  const std::vector<point> points = run_all(about, ways, seeds, tell, std::span(chips).last(1));
  add_rows(out, points, ways, "l2", {}, second_misses);
  add_rows(out, points, ways, "speedup", {}, speedup);
  out.notes.emplace_back("over fifo, on the chip of 32 cores; cap=1000000: queues without bound");
  return out;
}

reproduced hardware_latency(const reproduction& about, int seeds, const paper_progress& tell) {
  std::vector<way> ways;
  const auto add = [&](std::uint32_t cycles, const std::string& how, std::uint32_t prefetch,
                       std::optional<std::uint32_t> interval = {}) {
    ways.push_back({fmt::format("gsu-{}{}", cycles, how), "reference", cycles, prefetch, interval});
  };
  for (std::uint32_t cycles : {0u, 20u, 300u, 3000u}) add(cycles, "", 1);
  add(300, ", begun every 20", 1, 20);
  for (std::uint32_t cycles : {0u, 300u}) add(cycles, " without prefetching", 0);
  reproduced out = made();
  const std::vector<point> points = run_all(about, ways, seeds, tell);
  add_rows(out, points, ways, "time", {},
           [](const means& none, const means& one) { return one.seconds / none.seconds; });
  add_rows(out, points, ways, "overhead_percent", {}, [](const means&, const means& one) { return one.overhead; });
  for (paper_row& r : out.rows) {
    if (r.series == "gsu-300" && r.metric == "time" && r.program == "mean" && about.parts.size() == paper_programs)
      r.paper_says = "nearly no effect";
  }
  out.notes.emplace_back("begun every 20: an operation takes 300 cycles, and the next one begins 20 cycles later");
  out.notes.emplace_back("time: over that of a unit of 0 cycles with a buffer of one task");
  out.notes.emplace_back(
      "overhead_percent: of the cores' time, what they create tasks and wait for the unit's answers");
  return out;
}

}  // namespace kith::tools
