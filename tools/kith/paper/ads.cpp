// The ADS paper, section 5.1: heat and molecular dynamics on clusters, beside the same by hand.
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

/// What a figure shows, as time over that of its first point, or the inverse.
enum class scaled_as : std::uint8_t { speedup, time };

struct figure_point {
  std::string x;
  std::int64_t size;
  int places, workers;
};

struct scaling_figure {
  std::string name, machine, program;
  scaled_as as;
  std::vector<figure_point> points;
  // Printed, by x.
  std::map<std::string, double> ads = {}, by_hand = {}, over_by_hand = {};
};

std::vector<figure_point> by_places(std::int64_t size, const std::vector<int>& places, int workers,
                                    bool grows = false) {
  std::vector<figure_point> all;
  for (const int p : places) all.push_back({std::to_string(p), grows ? size * p / places.front() : size, p, workers});
  return all;
}

std::vector<figure_point> by_size(const std::vector<std::int64_t>& sizes, int places, int workers) {
  std::vector<figure_point> all;
  for (const std::int64_t s : sizes) all.push_back({std::to_string(s), s, places, workers});
  return all;
}

std::vector<figure_point> by_threads(std::int64_t size, int places, bool grows = false) {
  std::vector<figure_point> all;
  for (int w = 1; w <= 6; ++w) all.push_back({std::to_string(w), grows ? size * w : size, places, w});
  return all;
}

const std::vector<scaling_figure>& scaling_figures() {
  constexpr const char* blue = "bluegene-p";
  constexpr const char* intel = "xeon-5504-cluster";
  static const std::vector<scaling_figure> all = {
      {"fig4",
       blue,
       "heat",
       scaled_as::speedup,
       by_places(64 * kilo, {2, 4, 8, 16, 32, 64, 128, 256}, 2),
       {{"256", 126}},
       {{"256", 118}},
       {{"2", 1.067}, {"256", 1}}},
      {"fig5",
       blue,
       "heat",
       scaled_as::time,
       by_places(64 * kilo, {32, 64, 128, 256}, 2, true),
       {{"256", 1.1}},
       {},
       {{"256", 1.04}}},
      {"fig6",
       blue,
       "heat",
       scaled_as::time,
       by_size({64 * kilo, 128 * kilo, 256 * kilo, 512 * kilo}, 256, 2),
       {{"524288", 7.8}},
       {},
       {{"524288", 1.03}}},
      {"fig7", intel, "heat", scaled_as::speedup, by_threads(64 * kilo, 4), {{"6", 6.4}}, {{"6", 7.4}}, {{"6", 1.185}}},
      {"fig8",
       intel,
       "heat",
       scaled_as::time,
       by_threads(12 * kilo, 2, true),
       {{"6", 0.2}},
       {{"6", 1 / 5.3}},
       {{"6", 1.092}}},
      {"fig9",
       intel,
       "heat",
       scaled_as::time,
       by_size({32 * kilo, 64 * kilo, 128 * kilo, 256 * kilo, 512 * kilo}, 4, 6),
       {{"262144", 8.6}, {"524288", 25.8}},
       {{"262144", 9.3}},
       {{"524288", 1.04}}},
      {"fig10",
       blue,
       "md",
       scaled_as::speedup,
       by_places(32 * kilo, {8, 16, 32, 64, 128, 256}, 2),
       {{"256", 219}},
       {{"256", 874}}},
      {"fig11",
       blue,
       "md",
       scaled_as::time,
       by_places(8 * kilo, {64, 128, 256}, 2, true),
       {{"256", 1 / 3.3}},
       {{"256", 2}}},
      {"fig12",
       blue,
       "md",
       scaled_as::time,
       by_size({8 * kilo, 16 * kilo, 32 * kilo}, 256, 2),
       {{"32768", 3.6}},
       {{"32768", 1.5}}},
      {"fig13",
       intel,
       "md",
       scaled_as::speedup,
       {{"4", 32 * kilo, 1, 4},
        {"8", 32 * kilo, 2, 4},
        {"12", 32 * kilo, 2, 6},
        {"18", 32 * kilo, 3, 6},
        {"24", 32 * kilo, 4, 6}},
       {{"24", 19.32}},
       {{"24", 21}},
       {{"4", 1.158}, {"24", 1.26}}},
      {"fig14",
       intel,
       "md",
       scaled_as::time,
       {{"4", 16 * kilo / 3, 1, 4}, {"8", 32 * kilo / 3, 2, 4}, {"12", 16 * kilo, 2, 6}},
       {{"12", 1.25}},
       {{"12", 2}},
       {{"4", 2.5}, {"12", 1.54}}},
      {"fig15",
       intel,
       "md",
       scaled_as::time,
       by_size({4 * kilo, 8 * kilo, 16 * kilo, 32 * kilo}, 4, 6),
       {{"32768", 15}},
       {{"32768", 68}},
       {{"32768", 1.5}}},
  };
  return all;
}

std::optional<double> printed_for(const std::map<std::string, double>& printed, const std::string& x) {
  const auto at = printed.find(x);
  return at == printed.end() ? std::nullopt : std::optional(at->second);
}

void add_scaling_rows(reproduced& out, const scaling_figure& f, const std::vector<ads_means>& ads,
                      const std::vector<ads_means>& by_hand) {
  const bool speedup = f.as == scaled_as::speedup;
  const char* const metric = speedup ? "speedup" : "time_ratio";
  const auto scaled = [&](const std::vector<ads_means>& all, std::size_t i) {
    const double ratio = all[i].seconds / all.front().seconds;
    return speedup ? 1 / ratio : ratio;
  };
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const std::string& x = f.points[i].x;
    out.rows.push_back({f.name + " ads", metric, x, printed_for(f.ads, x), {}, scaled(ads, i), f.program});
    out.rows.push_back({f.name + " custom", metric, x, printed_for(f.by_hand, x), {}, scaled(by_hand, i), f.program});
    out.rows.push_back({f.name,
                        "ads_over_custom",
                        x,
                        printed_for(f.over_by_hand, x),
                        {},
                        ads[i].seconds / by_hand[i].seconds,
                        f.program});
    out.rows.push_back({f.name + " ads", "seconds", x, {}, {}, ads[i].seconds, f.program});
  }
}

/// A change to the runs of a figure's first and last point: a part of the model is left out, activities are sent along
/// a tree, or workers run tasks while they wait.
struct scaling_variant {
  const char* name;
  sim::model_parts parts = {};
  bool by_tree = false, works = false;
};
constexpr scaling_variant scaling_variants[] = {
    {"without contention", {.contention = false}}, {"without latency", {.latency = false}},
    {"without scheduling", {.scheduling = false}}, {"sent along a tree", {}, true},
    {"working while it waits", {}, false, true},   {"sent along a tree, working while it waits", {}, true, true}};

ads_run run_of(const scaling_figure& f, const figure_point& p, ads_way way) {
  return {.program = f.program, .size = p.size, .places = p.places, .workers = p.workers, .way = way};
}

void add_variants(reproduced& out, const machine_model& m, const scaling_figure& f, int seeds,
                  const paper_progress& tell) {
  std::vector<ads_run> runs;
  for (const scaling_variant& v : scaling_variants) {
    for (const figure_point& p : {f.points.front(), f.points.back()}) {
      runs.push_back(run_of(f, p, ads_way::ads));
      runs.back().parts = v.parts;
      runs.back().by_tree = v.by_tree;
      runs.back().works = v.works;
    }
  }
  const std::vector<ads_means> found = run_ads(m, runs, seeds, tell);
  for (std::size_t v = 0; v < std::size(scaling_variants); ++v)
    out.rows.push_back({fmt::format("{} ads {}", f.name, scaling_variants[v].name),
                        "speedup",
                        f.points.back().x,
                        {},
                        {},
                        found[2 * v].seconds / found[2 * v + 1].seconds,
                        f.program});
}

std::vector<std::string> scaling_notes() {
  return {
      "speedup: over the first point of the figure; time_ratio: time over that of the first point; custom: the same by "
      "hand, with MPI and threads; workers are without the communication thread, which the paper counts",
      "fitted once, for all machines: 100 operations for each pair of molecules, from the 189 s of figure 19; heat has "
      "6 for a cell; an operation waits for the one before it, as in scalar code (apps/rates.hpp), and takes 2.5 "
      "cycles of the machine's clock",
      "chosen, as the paper prints none: 65536 rows in figures 4 and 7, 32768 molecules in figures 10 and 13, leaves "
      "of 64 molecules, one row of molecules' regions; 10 of the 100 steps are simulated",
      "Blue Gene/P at fidelity abstract (the model of memory is for up to 64 caches), the cluster at fidelity block"};
}

}  // namespace

reproduced ads_scaling(const reproduction& about, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = "bluegene-p";
  out.notes = scaling_notes();
  for (const char* name : {"bluegene-p", "xeon-5504-cluster"}) {
    std::vector<ads_run> runs;
    std::vector<const scaling_figure*> chosen;
    for (const scaling_figure& f : scaling_figures()) {
      if (f.machine != name || std::ranges::find(about.parts, f.program) == about.parts.end()) continue;
      chosen.push_back(&f);
      for (const ads_way way : {ads_way::ads, ads_way::by_hand}) {
        for (const figure_point& p : f.points) runs.push_back(run_of(f, p, way));
      }
    }
    const machine_model m = ads_machine(name);
    const std::vector<ads_means> found = run_ads(m, runs, seeds, tell);
    auto next = found.begin();
    for (const scaling_figure* f : chosen) {
      const auto count = static_cast<std::ptrdiff_t>(f->points.size());
      add_scaling_rows(out, *f, {next, next + count}, {next + count, next + 2 * count});
      next += 2 * count;
      if (f->name == "fig4" || f->name == "fig10") add_variants(out, m, *f, seeds, tell);
    }
  }
  return out;
}

}  // namespace kith::tools
