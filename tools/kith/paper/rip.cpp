// The RIP paper, section 6: figures 5, 6 and 7, and table 1, on models of the machines of section 5.1; and the
// parameters on which the results here depend.
#include "paper/reproduction.hpp"
#include "paper/rip_printed.hpp"
#include "paper/rip_runs.hpp"
#include "sim/runs.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace kith::tools {

namespace {

using by_series = std::vector<rip_means>;

/// Calls value(means of the series, means of the base) for each program.
template <class F>
std::vector<double> each(const std::vector<by_series>& measured, std::size_t series, F&& value) {
  const auto base = static_cast<std::size_t>(std::ranges::find(rip_series(), rip_baseline) - rip_series().begin());
  std::vector<double> values;
  for (const by_series& of : measured) values.push_back(value(of[series], of[base]));
  return values;
}
struct rip_metric {
  const char* name;
  double (*value)(const rip_means&, const rip_means& base);
  bool over_base = false;        // a ratio: the base has none, and means are geometric
  bool of_windows_only = false;  // only for policies that partition
};
constexpr rip_metric metrics[] = {
    {"speedup", [](const rip_means& v, const rip_means& base) { return base.seconds / v.seconds; }, true},
    // One byte is added, because the traffic may be zero.
    {"traffic_reduction",
     [](const rip_means& v, const rip_means& base) { return (base.traffic + 1) / (v.traffic + 1); }, true},
    {"load_balance_percent", [](const rip_means& v, const rip_means&) { return v.balance; }},
    {"overhead_percent", [](const rip_means& v, const rip_means&) { return v.overhead; }},
    {"partition_percent", [](const rip_means& v, const rip_means&) { return v.partition; }, false, true},
};

/// Adds the values of one metric by program, and over the programs as the paper has them.
void add(reproduced& out, const reproduction& about, const std::string& series, const rip_metric& metric,
         const std::vector<double>& values) {
  const bool all_programs = has_all_programs(about);
  const auto row = [&](const std::string& x, double value) {
    const bool compared = all_programs || std::ranges::find(about.parts, x) != about.parts.end();
    out.rows.push_back({series, metric.name, x,
                        compared ? printed_in_rip(about.id, series, metric.name, x) : std::nullopt,
                        compared ? said_in_rip(about.id, series, metric.name, x) : "", value});
  };
  for (std::size_t i = 0; i < about.parts.size(); ++i) row(about.parts[i], values[i]);
  const sample all = sample_of(values);
  row("mean", metric.over_base ? geometric_mean(values) : all.mean);
  if (metric.over_base) return;
  row("min", all.least);
  row("max", all.most);
}

}  // namespace

reproduced rip_on_machine(const reproduction& about, int seeds, const paper_progress& tell) {
  const rip_place& on = rip_place_of(about.id);
  reproduced out;
  out.machine = on.machine;
  const machine_model m = model_by_name(on.machine);
  std::vector<by_series> measured;
  for (std::size_t i = 0; i < about.parts.size(); ++i) {
    const auto share = [&](double done) {
      tell(about.parts[i], (static_cast<double>(i) + done) / static_cast<double>(about.parts.size()));
    };
    share(0);
    measured.push_back(rip_means_of(rip_program_on(about.parts[i], m), m, on.way, {}, seeds, share));
  }
  for (const rip_metric& metric : metrics) {
    for (std::size_t s = 0; s < rip_series().size(); ++s) {
      const std::string series = rip_series()[s];
      if (metric.over_base && series == rip_baseline) continue;
      if (metric.of_windows_only && !series.starts_with("rip")) continue;
      add(out, about, series, metric, each(measured, s, metric.value));
    }
  }
  out.notes = {
      fmt::format("speedup and traffic_reduction: over {}; means over {} seeds, then over programs the geometric mean "
                  "(RIP paper, section 6); other means are arithmetic",
                  rip_baseline, seeds),
      fmt::format("traffic: bytes to and from {}, data and control messages", on.way),
      "chosen on the bullion with 4 sockets: how many blocks a program has for each core, and that a node's ready "
      "tasks run in the order of their creation; the paper prints neither. docs/papers/rip.md has these, and what is "
      "not met"};
  return out;
}

reproduced rip_ablations(const reproduction& about, int seeds, const paper_progress& tell) {
  using sim::model_parts;
  static constexpr rip_variant variants[] = {
      {.name = "nothing"},
      {.name = "contention", .parts = {.contention = false}},
      {.name = "latency", .parts = {.latency = false}},
      {.name = "contention, latency", .parts = {.contention = false, .latency = false}},
      {.name = "caches", .parts = {.caches = false}},
      {.name = "scheduling", .parts = {.scheduling = false}},
      {.name = "creation order", .queues = "order=ready"},
      {.name = "nodes for themselves", .queues = "order=created,steal=nearest"}};
  const rip_place& on = rip_place_of("rip-bullion-8");
  reproduced out;
  out.machine = on.machine;
  const machine_model m = model_by_name(on.machine);
  std::vector<std::vector<by_series>> measured(std::size(variants));  // by variant, by program
  double done = 0;
  const auto all = static_cast<double>(about.parts.size() * std::size(variants));
  for (const std::string& name : about.parts) {
    const rip_program p = rip_program_on(name, m);
    for (std::size_t v = 0; v < std::size(variants); ++v) {
      const std::string what = name + " without " + variants[v].name;
      measured[v].push_back(
          rip_means_of(p, m, on.way, variants[v], seeds, [&](double share) { tell(what, (done + share) / all); }));
      ++done;
    }
  }
  for (const rip_metric& metric : metrics) {
    for (std::size_t s = 0; s < rip_series().size(); ++s) {
      const std::string series = rip_series()[s];
      if (!metric.over_base || series == rip_baseline) continue;
      for (std::size_t v = 0; v < std::size(variants); ++v) {
        out.rows.push_back(
            {series, metric.name, variants[v].name, {}, {}, geometric_mean(each(measured[v], s, metric.value))});
      }
    }
  }
  out.notes = {
      "x: what is left out of the model, as with `kith sim --without`; without creation order, a node's tasks run as "
      "they became ready; where nodes are not for themselves, an idle one takes tasks of others",
      "geometric means over the programs, over dep with the same left out"};
  return out;
}

}  // namespace kith::tools
