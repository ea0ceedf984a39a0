// Heat on more places than the ADS paper had: weak scaling on tori of hosts, at fidelity abstract.
#include "engine/sim/place_program.hpp"
#include "paper/ads_runs.hpp"

#include "apps/place_graphs.hpp"

#include <sys/resource.h>

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace kith::tools {

namespace {

constexpr std::int64_t rows_of_place = 256, beyond_columns = 4096, beyond_leaf = 1024, beyond_steps = 3;
constexpr int beyond_workers = 2;

struct beyond_variant {
  const char* name;
  apps::sent how;
  bool works;
};
constexpr beyond_variant beyond_variants[] = {{"ads", apps::sent::by_main, false},
                                              {"ads, sent along a tree", apps::sent::by_tree, true}};

/// The largest amount of memory that this process has had.
double most_gib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / (1 << 20);
}

}  // namespace

reproduced ads_beyond(const reproduction&, int seeds, const paper_progress& tell) {
  reproduced out;
  out.machine = "bluegene-p";
  out.notes = {fmt::format("not of the paper, whose largest machine has 256 places: {} rows for each place and {} "
                           "columns in leaves of {}, {} workers a place; {} steps, on tori of hosts whose sides are as "
                           "equal as their number allows",
                           rows_of_place, beyond_columns, beyond_leaf, beyond_workers, beyond_steps),
               "time_ratio: of a step, over that with 256 places; a tree: each place sends the activities of half of "
               "the places behind it on, and whoever waits for an answer runs other tasks"};
  const std::vector<int> sizes{256, 1024, 4096, 16384, 65536};
  const auto begin = std::chrono::steady_clock::now();
  for (const beyond_variant& v : beyond_variants) {
    double first = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const int places = sizes[i];
      tell(fmt::format("{} places, {}", places, v.name), static_cast<double>(i) / static_cast<double>(sizes.size()));
      const machine_model m = ads_machine("bluegene-p", places);
      sim::place_program g(places);
      const apps::plate plate{rows_of_place * places, beyond_columns, beyond_leaf, 1};
      apps::make_heat(g, plate, beyond_steps, v.how);
      const sim::program p = g.finish();
      sim::run_options s;
      s.policy = "ads";
      s.fidelity = sim::fidelity::abstract;
      s.places = {.count = places, .workers = beyond_workers, .works = v.works};
      double seconds = 0;
      for (int seed = 1; seed <= seeds; ++seed) {
        s.seed = static_cast<std::uint64_t>(seed);
        seconds += sim::simulate(p, m, s).seconds / (static_cast<double>(beyond_steps) * seeds);
      }
      if (first == 0) first = seconds;
      const std::string x = std::to_string(places);
      out.rows.push_back({v.name, "seconds", x, {}, {}, seconds, "heat"});
      out.rows.push_back({v.name, "time_ratio", x, {}, {}, seconds / first, "heat"});
    }
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  out.notes.push_back(fmt::format("simulated in {:.0f} s, with {:.1f} GiB at most", took.count(), most_gib()));
  return out;
}

}  // namespace kith::tools
