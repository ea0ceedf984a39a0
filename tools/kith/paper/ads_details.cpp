// The ADS paper, sections 5.2 and 5.3, on one machine of 16 cores: against Cilk and one global place, the time of
// steals and of looks at the buffer, and the space of the queues.
#include "paper/ads_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

constexpr int ads_cores = 16;

using ads_printed = std::map<std::pair<std::string, std::string>, double>;  // by series or program, and by x

std::optional<double> printed_at(const ads_printed& printed, const std::string& a, const std::string& b) {
  const auto at = printed.find({a, b});
  return at == printed.end() ? std::nullopt : std::optional(at->second);
}

ads_run with_way(ads_run r, ads_way way) {
  r.way = way;
  return r;
}

/// Places times workers, all on 16 cores.
std::vector<ads_run> configurations(const ads_run& program) {
  std::vector<ads_run> all;
  for (const int places : {2, 4, 8, 16}) {
    all.push_back(program);
    all.back().places = places;
    all.back().workers = ads_cores / places;
  }
  return all;
}
std::string configuration_name(const ads_run& r) { return fmt::format("{}x{}", r.places, r.workers); }

std::string series_of(const ads_run& r) { return r.regions == 0 ? "ads" : "ads, work of 2 regions"; }

/// A row of the program's table, by configurations.
void add_row(reproduced& out, const ads_run& r, const char* metric, const ads_printed& printed, double value) {
  const std::string at = configuration_name(r);
  out.rows.push_back({series_of(r), metric, at, printed_at(printed, r.program, at), {}, value, r.program});
}

/// The programs as the paper ran them on the Power6.
ads_run on_power6(const std::string& program) {
  if (program == "cg") return {.program = program, .size = 'C'};
  if (program == "md") return {.program = program, .size = 32 * kilo};
  return {.program = program, .size = 64 * kilo, .columns = 8 * kilo};
}

std::vector<std::pair<ads_run, ads_means>> run_configurations(const reproduction& about, int seeds,
                                                              const paper_progress& tell) {
  std::vector<ads_run> runs;
  for (const std::string& program : about.parts) {
    for (const ads_run& r : configurations(on_power6(program))) runs.push_back(r);
    if (program != "md") continue;
    for (ads_run r : configurations(on_power6(program))) {
      r.regions = 2;
      runs.push_back(r);
    }
  }
  const std::vector<ads_means> found = run_ads(ads_machine("power6"), runs, seeds, tell);
  std::vector<std::pair<ads_run, ads_means>> all;
  for (std::size_t i = 0; i < runs.size(); ++i) all.emplace_back(runs[i], found[i]);
  return all;
}

std::vector<std::string> looking_notes() {
  return {
      "steal_seconds, fab_seconds: a worker's mean time without a task, shared out as the paper's thieves spend it: by "
      "turns a look at a deque (attempt and steal of the machine, stretched by the mean distance) and one at the "
      "buffer (attempt); steal_seconds has the thefts, too",
      "one outer iteration of CG is simulated, and 10 steps of the others; rates of computing as in ads-scaling"};
}

}  // namespace

reproduced ads_cilk(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = "xeon-5570";
  out.notes = looking_notes();
  out.notes.emplace_back(
      "ads: 2 places, one for each socket (the paper does not say); cws: the same tasks and deques in one group; corg: "
      "the same with the policy steal, one task a theft, for original Cilk, whose work-first order C++ functions "
      "cannot have");
  std::vector<ads_run> runs;
  for (const std::string& program : about.parts) {
    for (const ads_way way : {ads_way::ads, ads_way::cws})
      runs.push_back({.program = program,
                      .size = program == "cg" ? 'B' : 32 * kilo,
                      .places = 2,
                      .workers = ads_cores / 2,
                      .way = way});
  }
  const bool heat = std::ranges::find(about.parts, "heat") != about.parts.end();
  for (int c = 2; heat && c <= ads_cores; c *= 2) {
    const ads_run r{.program = "heat", .size = 32 * kilo, .places = 2, .workers = c / 2};
    runs.push_back(r);
    runs.push_back(with_way(r, ads_way::cilk));
  }
  const std::vector<ads_means> found = run_ads(ads_machine(out.machine), runs, seeds, tell);
  const std::string at = std::to_string(ads_cores);
  const ads_printed gains{{{"gain_percent", "cg"}, 30}, {{"gain_percent", "md"}, 16}};
  const ads_printed ratios{{{"steal", "cg"}, 3.74}, {{"steal", "heat"}, 4.1}, {{"steal", "md"}, 2.8}};
  const ads_printed seconds{{{"ads", "cg"}, 5}, {{"cws", "cg"}, 18.7}};
  for (std::size_t i = 0; i < about.parts.size(); ++i) {
    const std::string& program = about.parts[i];
    const ads_means &ads = found[2 * i], &cws = found[2 * i + 1];
    const auto row = [&](const char* series, const char* metric, std::optional<double> paper, double value) {
      out.rows.push_back({series, metric, at, paper, {}, value, program});
    };
    row("fig17 ads over cws", "gain_percent", printed_at(gains, "gain_percent", program),
        100 * (cws.seconds / ads.seconds - 1));
    row("fig18 cws over ads", "steal_time_ratio", printed_at(ratios, "steal", program),
        cws.steal_seconds / ads.steal_seconds);
    row("fig18 ads", "steal_seconds", printed_at(seconds, "ads", program), ads.steal_seconds);
    row("fig18 cws", "steal_seconds", printed_at(seconds, "cws", program), cws.steal_seconds);
    row("fig18 ads", "fab_percent_of_steal", {}, 100 * ads.fab_seconds / ads.steal_seconds);
    out.rows.back().paper_says = "13 to 22";
    row("fig17 ads", "seconds", {}, ads.seconds);
  }
  for (std::size_t i = 2 * about.parts.size(); i + 1 < found.size(); i += 2) {
    const std::string x = std::to_string(runs[i].places * runs[i].workers);
    const ads_printed over{{{"heat", "2"}, 1.9}, {{"heat", "16"}, 1.2}};
    out.rows.push_back({"fig16 corg over ads",
                        "time_ratio",
                        x,
                        printed_at(over, "heat", x),
                        {},
                        found[i + 1].seconds / found[i].seconds,
                        "heat"});
  }
  return out;
}

reproduced ads_power6(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = "power6";
  out.notes = looking_notes();
  out.notes.emplace_back(
      "md has 32768 molecules (chosen; its time with 2x8 was fitted, see ads-scaling); work of 2 regions: each "
      "molecule has as many pairs as with 2 places, whatever their number");
  const ads_printed steal{{{"md", "2x8"}, 3.5},  {{"md", "8x2"}, 80}, {{"md", "16x1"}, 0},  {{"cg", "2x8"}, 12.1},
                          {{"cg", "8x2"}, 13.1}, {{"cg", "16x1"}, 0}, {{"heat", "16x1"}, 0}};
  const ads_printed fab{
      {{"md", "2x8"}, 0.3}, {{"md", "16x1"}, 110}, {{"cg", "2x8"}, 3.6}, {{"cg", "8x2"}, 4.1}, {{"cg", "16x1"}, 81}};
  const ads_printed total{{{"md", "2x8"}, 189}, {{"md", "16x1"}, 425}};
  const ads_printed steal_attempts{{{"md", "2x8"}, 140e3}, {{"md", "8x2"}, 4e6}, {{"md", "16x1"}, 0}};
  const ads_printed fab_attempts{{{"md", "16x1"}, 300e6}};
  for (const auto& [r, found] : run_configurations(about, seeds, tell)) {
    const auto row = [&out, &run = r](const char* metric, const ads_printed& printed, double value) {
      add_row(out, run, metric, printed, value);
    };
    row("steal_seconds", steal, found.steal_seconds);
    row("fab_seconds", fab, found.fab_seconds);
    row("seconds", total, found.seconds);
    row("steal_attempts", steal_attempts, found.steal_attempts);
    row("fab_attempts", fab_attempts, found.fab_attempts);
  }
  return out;
}

reproduced ads_space(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = "power6";
  out.notes = {
      "tasks and activities, where the paper counts stack frames; a deque is sampled after each push, a buffer "
      "after each arrival; depth: of the tasks that create each other, with the body of the finish"};
  const ads_printed depth{{{"md", "2x8"}, 11}, {{"heat", "2x8"}, 12}, {{"cg", "2x8"}, 13}};
  const ads_printed fab_mean{{{"md", "2x8"}, 4}, {{"md", "16x1"}, 6.4}};
  const ads_printed fab_peak{{{"md", "2x8"}, 7}, {{"md", "8x2"}, 9}, {{"md", "16x1"}, 7}};
  const ads_printed deque_mean{{{"md", "2x8"}, 9.69}, {{"md", "16x1"}, 8}};
  const ads_printed deque_peak{{{"md", "2x8"}, 11}, {{"md", "8x2"}, 12}, {{"md", "16x1"}, 9}};
  std::map<std::string, ads_means> most;  // by program, over the configurations
  const auto all = run_configurations(about, seeds, tell);
  for (const auto& [r, found] : all) {
    if (r.regions != 0) continue;
    const auto row = [&out, &run = r](const char* metric, const ads_printed& printed, double value) {
      add_row(out, run, metric, printed, value);
    };
    row("depth", depth, found.depth);
    row("fab_mean", fab_mean, found.fab_mean);
    row("fab_peak", fab_peak, found.fab_peak);
    row("deque_mean", deque_mean, found.deque_mean);
    row("deque_peak", deque_peak, found.deque_peak);
    ads_means& m = most[r.program];
    m.depth = std::max(m.depth, found.depth);
    m.fab_peak = std::max(m.fab_peak, found.fab_peak);
    m.deque_peak = std::max(m.deque_peak, found.deque_peak);
  }
  for (const std::string& program : about.parts) {
    const ads_means& m = most[program];
    const auto row = [&](const char* metric, std::optional<double> paper, const char* says, double value) {
      out.rows.push_back({"ads", metric, "most", paper, says, value, program});
    };
    const bool md = program == "md";
    row("fab_percent_of_depth", md ? std::optional(81.0) : std::nullopt,
        md                ? ""
        : program == "cg" ? "very low"
                          : "close to 100",
        100 * m.fab_peak / m.depth);
    row("deque_percent_of_depth", md ? std::optional(109.0) : std::nullopt, md ? "" : "close to 100",
        100 * m.deque_peak / m.depth);
  }
  return out;
}

}  // namespace kith::tools
