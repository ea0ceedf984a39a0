// The RIP paper, section 6.5: figure 8, with page migration. And other readings of what the paper does not print: the
// annotations of symmetric inversion, integral histogram's memory, and the rate that the NUMAlink reaches.
#include "paper/reproduction.hpp"
#include "paper/rip_printed.hpp"
#include "paper/rip_runs.hpp"

#include <algorithm>

namespace kith::tools {

namespace {

/// "dep" -> "dep+pm", "rip-mw:window=4" -> "rip-mw+pm:window=4".
std::string migrating(std::string policy) { return policy.insert(std::min(policy.find(':'), policy.size()), "+pm"); }

std::size_t index_of(std::string_view series) {
  return static_cast<std::size_t>(std::ranges::find(rip_series(), series) - rip_series().begin());
}

/// Programs that run under other conditions than in figures 5 and 6.
struct reading {
  const char* name;
  std::vector<std::string> programs;
  std::vector<const char*> places;
  std::vector<std::string> changed = {};  // arguments of the programs
  double numalink = 1;                    // over the rate in the machine's file
};

}  // namespace

reproduced rip_migration(const reproduction& about, int seeds, const paper_progress& tell) {
  const rip_place& on = rip_place_of("rip-uv100");
  reproduced out;
  out.machine = on.machine;
  const machine_model m = model_by_name(on.machine);
  std::vector<std::string> series;
  for (const char* s : {"dep", "rip-dep", "rip-mw"}) series.insert(series.end(), {s, migrating(s)});
  std::vector<std::vector<double>> speedups(series.size());
  for (std::size_t i = 0; i < about.parts.size(); ++i) {
    const std::string& name = about.parts[i];
    rip_program p = rip_program_on(name, m);
    std::vector<std::string> policies;
    for (const char* s : {"dep", "rip-dep", "rip-mw"}) {
      const std::string& policy = p.policies[index_of(s)];
      policies.insert(policies.end(), {policy, migrating(policy)});
    }
    p.policies = policies;
    const std::vector<rip_means> found = rip_means_of(p, m, on.way, {}, seeds, [&](double done) {
      tell(name, (static_cast<double>(i) + done) / static_cast<double>(about.parts.size()));
    });
    for (std::size_t s = 0; s < series.size(); ++s) {
      speedups[s].push_back(found[0].seconds / found[s].seconds);
      const auto row = [&](const char* metric, double value) {
        out.rows.push_back({series[s], metric, name, printed_in_rip(about.id, series[s], metric, name), {}, value});
      };
      if (series[s] != rip_baseline) row("speedup", speedups[s].back());
      row("migrated_gbytes", found[s].migrated / 1e9);
      row("load_balance_percent", found[s].balance);
    }
  }
  for (std::size_t s = 1; s < series.size() && has_all_programs(about); ++s)
    out.rows.push_back({series[s],
                        "speedup",
                        "mean",
                        {},
                        said_in_rip(about.id, series[s], "speedup", "mean"),
                        geometric_mean(speedups[s])});
  out.notes = {"speedup: over dep without migration; the mean is geometric",
               "the kernel's own work for each page takes no time in the model, so migration costs more than this"};
  return out;
}

reproduced rip_readings(const reproduction& about, int seeds, const paper_progress& tell) {
  const std::vector<const char*> all{"rip-bullion-4", "rip-bullion-8", "rip-bullion-16", "rip-uv100"};
  const std::vector<reading> readings = {
      {.name = "columns", .programs = {"inversion"}, .places = all, .changed = {"--annotate", "columns"}},
      {.name = "fresh", .programs = {"integral_histogram"}, .places = all, .changed = {"--ring", "0"}},
      {.name = "link", .programs = about.parts, .places = {"rip-uv100"}, .numalink = 0.5}};
  reproduced out;
  out.machine = rip_place_of("rip-uv100").machine;
  for (const reading& r : readings) {
    for (const char* place : r.places) {
      const rip_place& on = rip_place_of(place);
      machine_model m = model_by_name(on.machine);
      for (machine_link& l : m.links) {
        if (l.from.starts_with("hub") && l.to.starts_with("hub")) l.gbs *= r.numalink;
      }
      std::vector<std::vector<double>> speedups(rip_series().size());
      const auto add = [&](std::size_t s, const char* metric, const std::string& x, double value) {
        const std::string series = rip_series()[s];
        if (metric == std::string_view("speedup") && series == rip_baseline) return;
        out.rows.push_back({series, metric, std::string(r.name) + " " + place + " " + x,
                            printed_in_rip(place, series, metric, x), said_in_rip(place, series, metric, x), value});
      };
      for (const std::string& name : r.programs) {
        if (std::ranges::find(about.parts, name) == about.parts.end()) continue;
        const std::vector<rip_means> found =
            rip_means_of(rip_program_on(name, m, r.changed), m, on.way, {}, seeds,
                         [&](double done) { tell(std::string(r.name) + ", " + place + ", " + name, done); });
        for (std::size_t s = 0; s < found.size(); ++s) {
          speedups[s].push_back(found[index_of(rip_baseline)].seconds / found[s].seconds);
          add(s, "speedup", name, speedups[s].back());
          add(s, "load_balance_percent", name, found[s].balance);
        }
      }
      if (r.programs.size() == 1 || !has_all_programs(about)) continue;
      for (std::size_t s = 0; s < speedups.size(); ++s) add(s, "speedup", "mean", geometric_mean(speedups[s]));
    }
  }
  out.notes = {
      "columns: inversion's tiles are annotated with nodes by groups of neighbouring columns, not by a grid; fresh: "
      "integral histogram's images are each in memory of their own, which no task initialises; link: the NUMAlink at "
      "half the rate of the machine's file",
      "speedup: over dep under the same conditions; the mean is geometric"};
  return out;
}

}  // namespace kith::tools
