// The RIP paper, section 6: figures 5, 6 and 7, and table 1, on the machines of section 5.1 as they are modelled.
#include "apps/list.hpp"
#include "paper/dry.hpp"
#include "paper/reproduction.hpp"
#include "paper/rip_printed.hpp"
#include "sim/runs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kith::tools {

namespace {

/// A policy of the paper with the windows that the paper chose for the program.
struct contestant {
  const char* series;
  std::string (*policy)(const apps::window_hint&);
};

/// Which of a node's ready tasks comes first is not printed; in the order of creation wavefronts keep moving.
constexpr const char* in_order = ",order=created";

std::string rip_dep(const apps::window_hint& w) {
  return fmt::format("rip-dep:first={},window={}{}", w.first, w.window, in_order);
}
/// The moving windows of qr and inversion count the initialisation apart: its tasks are as many as those of a window.
std::string rip_mw(const apps::window_hint& w) {
  return fmt::format("rip-mw:first={},window={},intersection={}{}", w.first == 0 ? w.window : w.first, w.window,
                     w.intersection, in_order);
}

constexpr const char* baseline = "dep";
constexpr contestant contestants[] = {
    {"dfifo", [](const apps::window_hint&) -> std::string { return "dfifo"; }},
    {"socket", [](const apps::window_hint&) -> std::string { return "socket:order=created"; }},
    {baseline, [](const apps::window_hint&) -> std::string { return "dep:order=created"; }},
    {"rip-dep", rip_dep},
    {"rip-mw", rip_mw},
};

constexpr std::size_t place_of(const char* series) {
  std::size_t i = 0;
  while (std::string_view(contestants[i].series) != series) ++i;
  return i;
}

/// How much of a program is run on a machine with so many nodes and cores. The paper prints no sizes: the number of
/// blocks for each core was chosen on the bullion with 4 sockets, and tells most (docs/papers/rip.md).
std::vector<std::string> size_of(const std::string& program, int nodes, int cores) {
  const bool large = cores > 32;  // section 6.2.3: "the input set of some applications is increased"
  const auto blocks = [cores](std::int64_t items, int each) { return std::to_string(items / (cores * each) + 1); };
  const auto text = [](int n) { return std::to_string(n); };
  const int edge = nodes == 3 ? 15 : large ? 48 : 16;  // tiles in a row: each node gets as many columns
  if (program == "cg_tasks") {
    if (large) return {"--size", "256", "--block", blocks(256 * 256 * 256, 2), "--iterations", "15"};
    return {"--size", "128", "--block", blocks(128 * 128 * 128, 8), "--iterations", "30"};
  }
  if (program == "gauss_seidel" || program == "red_black") {
    const int tile = large ? 1024 : 512, iterations = program == "red_black" ? 30 : 60;
    return {"--size", text(edge * tile), "--block", text(tile), "--iterations", text(iterations)};
  }
  if (program == "integral_histogram")
    return {"--size", text((large ? 32 : edge) * 128), "--images", "20", "--ring", large ? "8" : "4"};
  if (program == "jacobi")
    return {"--rows", text(cores * (large ? 2 : 4) * 256), "--block", "256", "--iterations", "30"};
  if (program == "nstream") return {"--sets", text(cores * (large ? 1 : 2)), "--iterations", "15"};
  if (large) return {"--size", "12288"};  // qr, inversion
  return {};
}

/// Bytes that crossed between modules, data and control: what the paper's counters at the switches see.
double crossed(const sim::result& r, std::string_view way) {
  double bytes = 0;
  for (const auto& l : r.links) {
    if (l.from == way || l.to == way) bytes += static_cast<double>(l.data + l.control);
  }
  return bytes;
}

/// Means over the seeds.
struct means {
  double seconds = 0, traffic = 0, balance = 0, overhead = 0, partition = 0;
};

/// Of a program under each contestant.
std::vector<means> means_of(const std::string& program, const machine_model& m, const rip_place& on,
                            const sim::ablations& with, int seeds, const std::function<void(double)>& tell) {
  const apps::entry& e = apps::find_app(program);
  const int nodes = static_cast<int>(m.hardware.nodes.size()), cores = static_cast<int>(m.hardware.cores.size());
  std::vector<std::string> words{program, "--paper", "--one-graph"};
  const std::vector<std::string> size = size_of(program, nodes, cores);
  words.insert(words.end(), size.begin(), size.end());
  const apps::window_hint windows = e.windows(
      apps::arguments(e.name, e.parameters, apps::read_arguments(e.name, e.parameters, size), apps::preset::paper));
  const sim::program p = record_dry(words, fmt::format("node:{} core:{}", nodes, cores / nodes), 1, "fifo");
  std::vector<sim::settings> runs;
  for (const contestant& c : contestants) {
    for (int s = 0; s < seeds; ++s) {
      sim::settings one;
      one.policy = c.policy(windows);
      one.seed = static_cast<std::uint64_t>(s) + 1;
      one.chunk_bytes = std::uint64_t{1} << (cores > 32 ? 20 : 18);
      one.with = with;
      runs.push_back(one);
    }
  }
  const std::vector<sim::result> results = simulate_all(p, m, runs, [&](std::size_t done, std::size_t all) {
    tell(static_cast<double>(done) / static_cast<double>(all));
  });
  std::vector<means> all(std::size(contestants));
  for (std::size_t i = 0; i < results.size(); ++i) {
    means& v = all[i / static_cast<std::size_t>(seeds)];
    const sim::result& r = results[i];
    v.seconds += r.seconds() / seeds;
    v.traffic += crossed(r, on.way) / seeds;
    v.balance += r.load_balance_percent() / seeds;
    v.overhead += r.overhead_percent() / seeds;
    v.partition += r.partition_percent() / seeds;
  }
  return all;
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += std::log(v);
  return std::exp(sum / static_cast<double>(values.size()));
}

/// The values of one metric, by program, and over the programs as the paper has them.
void add(reproduced& out, const rip_place& on, const std::string& series, const char* metric,
         const std::vector<std::string>& programs, const std::vector<double>& values, bool geometric) {
  const auto row = [&](const std::string& x, double value) {
    out.rows.push_back(
        {series, metric, x, printed_in_rip(on.id, series, metric, x), said_in_rip(on.id, series, metric, x), value});
  };
  for (std::size_t i = 0; i < programs.size(); ++i) row(programs[i], values[i]);
  const sample all = sample_of(values);
  row("mean", geometric ? geometric_mean(values) : all.mean);
  if (geometric) return;
  row("min", all.least);
  row("max", all.most);
}

/// All metrics, from the means of each program under each contestant.
void add_all(reproduced& out, const rip_place& on, const std::vector<std::string>& programs,
             const std::vector<std::vector<means>>& measured) {
  for (std::size_t c = 0; c < std::size(contestants); ++c) {
    const std::string series = contestants[c].series;
    const auto each = [&](auto&& value) {
      std::vector<double> values;
      for (const std::vector<means>& of : measured) values.push_back(value(of[c], of[place_of(baseline)]));
      return values;
    };
    if (series != baseline) {
      add(out, on, series, "speedup", programs, each([](auto& v, auto& base) { return base.seconds / v.seconds; }),
          true);
      add(out, on, series, "traffic_reduction", programs,
          each([](auto& v, auto& base) { return (base.traffic + 1) / (v.traffic + 1); }), true);
    }
    add(out, on, series, "load_balance_percent", programs, each([](auto& v, auto&) { return v.balance; }), false);
    add(out, on, series, "overhead_percent", programs, each([](auto& v, auto&) { return v.overhead; }), false);
    if (series.starts_with("rip"))
      add(out, on, series, "partition_percent", programs, each([](auto& v, auto&) { return v.partition; }), false);
  }
}

}  // namespace

reproduced rip_on_machine(const reproduction& about, int seeds, const paper_progress& tell) {
  const rip_place& on = rip_place_of(about.id);
  reproduced out;
  out.machine = on.machine;
  const machine_model m = model_by_name(on.machine);
  std::vector<std::vector<means>> measured;
  for (std::size_t i = 0; i < about.parts.size(); ++i) {
    measured.push_back(means_of(about.parts[i], m, on, {}, seeds, [&](double share) {
      tell(about.parts[i], (static_cast<double>(i) + share) / static_cast<double>(about.parts.size()));
    }));
  }
  add_all(out, on, about.parts, measured);
  std::ranges::stable_sort(out.rows, {}, [](const paper_row& r) { return std::pair(r.metric != "speedup", r.metric); });
  out.notes = {
      "speedup and traffic_reduction: over dep; means over seeds, then over programs the geometric mean (RIP paper, "
      "section 6); other means are arithmetic",
      fmt::format("traffic: bytes to and from {}, data and control messages", on.way),
      "the paper prints no sizes: docs/papers/rip.md has those that are assumed, and what is not met, and why"};
  return out;
}

}  // namespace kith::tools
