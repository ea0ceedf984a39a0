// The NabbitC paper, section V: figures 6 to 9, tables II and III, and the contributions of its mechanisms.
#include "engine/sim/loops.hpp"
#include "paper/dry.hpp"
#include "paper/reproduction.hpp"
#include "sim/runs.hpp"

#include <algorithm>
#include <tuple>

namespace kith::tools {

namespace {

constexpr const char* nabbitc_machine_name = "xeon-e7-8860";
constexpr int nabbitc_most_cores = 80;
constexpr int core_counts[] = {1, 10, 20, 40, 60, 80};

sim::run_options run_options_for(const std::string& policy, int cores, int seed) {
  sim::run_options s;
  s.policy = policy;
  s.workers = cores;
  s.seed = static_cast<std::uint64_t>(seed) + 1;
  s.fidelity = sim::fidelity::abstract;
  s.distribution = sim::distribution::colors;  // section V: every core initialises its own region
  return s;
}

sim::program recorded(const std::vector<std::string>& words, int cores) {
  return record_dry(words, "node:8 core:10", cores, "nabbitc");
}

/// Means over the seeds.
struct nabbitc_means {
  double speedup = 0, remote = 0, steals = 0, first_ms = 0;
  void add(const sim::result& r, int seeds) {
    speedup += r.over_serial() / seeds;
    remote += r.remote_access_percent / seeds;
    steals += static_cast<double>(r.total.steals) / static_cast<double>(r.workers.size()) / seeds;
    first_ms += std::max(0.0, r.total.first_steal_seconds) * 1e3 / seeds;
  }
};

/// The means of each policy on `cores` cores.
std::vector<nabbitc_means> means_of(const sim::program& p, const machine_model& m,
                                    const std::vector<std::string>& policies, int cores, int seeds) {
  std::vector<sim::run_options> runs;
  for (const std::string& policy : policies) {
    for (int s = 0; s < seeds; ++s) runs.push_back(run_options_for(policy, cores, s));
  }
  const std::vector<sim::result> results = simulate_all(p, m, runs);
  std::vector<nabbitc_means> all(policies.size());
  for (std::size_t i = 0; i < results.size(); ++i) all[i / static_cast<std::size_t>(seeds)].add(results[i], seeds);
  return all;
}

std::string printed_remote(const std::string& series, int cores) {
  if (cores < 20) return "0: one memory node";
  if (series == "nabbit") return "45 to 88, growing with the cores";
  if (series == "nabbitc") return "0 to 9 (not for twitter-2010 and Smith-Waterman)";
  return series == "loop-static" ? "almost none, for the regular programs" : "";
}

}  // namespace

reproduced speedups_by_cores(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = nabbitc_machine_name;
  const machine_model m = model_by_name(nabbitc_machine_name);
  const std::vector<std::string> policies{"nabbit", "nabbitc", "nabbitc:colors=node,attempts=256",
                                          "nabbitc:colors=node,attempts=1024"};
  for (int cores : core_counts) {
    const std::string x = std::to_string(cores);
    tell(about.program.front() + " on " + x + " cores", static_cast<double>(cores) / nabbitc_most_cores);
    const auto add = [&](const std::string& series, const nabbitc_means& v) {
      out.rows.push_back({series, "speedup", x, {}, {}, v.speedup});
      out.rows.push_back({series, "remote_percent", x, {}, printed_remote(series, cores), v.remote});
      if (series.starts_with("nabbit")) out.rows.push_back({series, "steals", x, {}, {}, v.steals});
    };
    const sim::program p = recorded(about.program, cores);
    const std::vector<nabbitc_means> all = means_of(p, m, policies, cores, seeds);
    for (std::size_t i = 0; i < policies.size(); ++i) add(policies[i], all[i]);
    for (auto [series, how] :
         {std::pair{"loop-static", sim::loop_schedule::static_}, {"loop-guided", sim::loop_schedule::guided}}) {
      nabbitc_means v;
      for (int s = 0; s < seeds; ++s) v.add(sim::simulate_loops(p, m, run_options_for("", cores, s), how), seeds);
      add(series, v);
    }
  }
  std::ranges::sort(out.rows, {}, [](const paper_row& r) { return std::tuple(r.series, r.metric, std::stoi(r.x)); });
  out.notes = {
      "steals: successful ones, the mean of the cores",
      "colors=node: another reading of the paper, with one color for the cores of a memory node and more colored "
      "attempts in a row",
      "speed-up: over the same nodes one after the other on one core, with all data local",
      "the figures of the paper print no numbers; what its text says stands in the last column"};
  if (about.program.front() == "web")
    out.notes.emplace_back(
        "the crawls themselves are not used: a generator makes block graphs of their sizes; how local "
        "and how uneven they are is chosen so that the order of figure 6 comes out (apps/web.cpp)");
  return out;
}

reproduced first_steal_by_cores(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = nabbitc_machine_name;
  const machine_model m = model_by_name(nabbitc_machine_name);
  for (int cores : core_counts) {
    tell(std::to_string(cores) + " cores", static_cast<double>(cores) / nabbitc_most_cores);
    const nabbitc_means v = means_of(recorded(about.program, cores), m, {"nabbitc"}, cores, seeds).front();
    out.rows.push_back({"nabbitc", "first_steal_ms", std::to_string(cores), {}, {}, v.first_ms});
  }
  out.notes = {
      "the mean over the cores of the time until their first successful steal; it includes the time in which one "
      "core finds the graph's last step alone"};
  return out;
}

reproduced wrong_colors(const reproduction& about, int seeds, const paper_progress& tell) {
  // Speed-up of nabbitc over nabbit as printed, at 20, 40, 60 and 80 cores. In both tables the columns of sw and swn2
  // repeat those of mg and heat, so they are left out.
  struct printed {
    const char* colors;
    const char* program;
    double at[4];
  };
  static constexpr printed tables[] = {{"bad", "cg", {0.96, 0.97, 0.96, 1.02}},
                                       {"bad", "mg", {0.76, 0.88, 0.97, 0.96}},
                                       {"bad", "heat", {0.66, 0.78, 0.95, 0.93}},
                                       {"bad", "fdtd", {1.08, 1.10, 1.08, 0.94}},
                                       {"bad", "life", {0.65, 0.77, 0.94, 0.97}},
                                       {"bad", "uk-2002", {0.75, 0.83, 0.89, 0.91}},
                                       {"bad", "twitter-2010", {0.83, 0.55, 0.49, 0.41}},
                                       {"bad", "uk-2007-05", {0.76, 0.94, 1.02, 1.02}},
                                       {"invalid", "cg", {1.03, 1.02, 0.99, 1.06}},
                                       {"invalid", "mg", {0.99, 0.99, 0.98, 0.97}},
                                       {"invalid", "heat", {0.94, 0.99, 0.94, 0.88}},
                                       {"invalid", "fdtd", {1.06, 1.04, 1.03, 0.91}},
                                       {"invalid", "life", {0.93, 0.92, 0.92, 0.98}},
                                       {"invalid", "uk-2002", {1.03, 0.97, 0.98, 0.94}},
                                       {"invalid", "twitter-2010", {1.12, 1.09, 1.01, 1.07}},
                                       {"invalid", "uk-2007-05", {1.12, 1.10, 1.08, 1.07}}};
  static constexpr int cores[] = {20, 40, 60, 80};
  reproduced out;
  out.machine = nabbitc_machine_name;
  const machine_model m = model_by_name(nabbitc_machine_name);
  const std::string colors = about.program.front();
  for (const printed& t : tables) {
    if (colors != t.colors) continue;
    const std::string name = t.program;
    const bool is_web = name.starts_with("uk-") || name.starts_with("twitter-");
    std::vector<std::string> words{name, "--paper"};
    if (is_web) words = {"web", "--graph", name};
    if (name == "twitter-2010") words.insert(words.end(), {"--local", "0", "--skew", "50"});
    words.insert(words.end(), {"--colors", colors});
    for (std::size_t c = 0; c < std::size(cores); ++c) {
      tell(name + " on " + std::to_string(cores[c]) + " cores",
           static_cast<double>(&t - std::begin(tables)) / std::size(tables));
      const std::vector<nabbitc_means> all =
          means_of(recorded(words, cores[c]), m, {"nabbit", "nabbitc"}, cores[c], seeds);
      out.rows.push_back(
          {name, "nabbitc_over_nabbit", std::to_string(cores[c]), t.at[c], {}, all[1].speedup / all[0].speedup});
    }
  }
  out.notes = {"colors are " + colors + "; data lies where the good colors say"};
  return out;
}

reproduced nabbitc_ablations(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = nabbitc_machine_name;
  const machine_model m = model_by_name(nabbitc_machine_name);
  tell("recording " + about.program.front(), 0);
  const sim::program p = recorded(about.program, nabbitc_most_cores);
  const std::vector<std::string> policies{"nabbitc",
                                          "nabbitc:first=off",
                                          "nabbitc:morph=off",
                                          "nabbitc:attempts=0",
                                          "nabbitc:attempts=400",
                                          "nabbitc:budget=1",
                                          "nabbitc:colors=node,attempts=64",
                                          "nabbit"};
  const std::vector<nabbitc_means> all = means_of(p, m, policies, nabbitc_most_cores, seeds);
  for (std::size_t i = 0; i < policies.size(); ++i) {
    out.rows.push_back({policies[i], "speedup", "80", {}, {}, all[i].speedup});
    out.rows.push_back({policies[i], "remote_percent", "80", {}, {}, all[i].remote});
    out.rows.push_back({policies[i], "steals", "80", {}, {}, all[i].steals});
    out.rows.push_back({policies[i], "first_steal_ms", "80", {}, {}, all[i].first_ms});
  }
  out.notes = {
      "first=off: the first steal of a worker need not be colored; morph=off: halves do not change places; attempts=0: "
      "no colored attempts at all, otherwise this many in a row (4); budget=1: after as many attempts as there are "
      "workers that met other colors alone (64 times as many), a first steal need not be colored; colors=node: one "
      "color for a memory node's workers"};
  return out;
}

}  // namespace kith::tools
