// Reproduces results of the papers: the printed values beside those of the simulator. list.cpp has all of them; a new
// one is a function and a line there.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::tools {

struct paper_row {
  std::string series, metric;
  std::string x;                // a number of cores, or a program
  std::optional<double> paper;  // as printed
  std::string paper_says;       // a range or a statement, if no value is printed
  double kith = 0;
  std::string program = {};  // if x is a number of cores, and there are several programs; or "mean"
};

struct reproduced {
  std::vector<paper_row> rows;
  std::vector<std::string> notes;  // fitted parameters, and results that are not reproduced
  std::string machine;             // the machine whose fitted values matter
};

/// Called from time to time with the present step and the share of it that is done (0 to 1).
using paper_progress = std::function<void(const std::string&, double)>;

struct reproduction {
  const char* id;
  const char* paper;
  const char* what;
  reproduced (*make)(const reproduction&, int seeds, const paper_progress&);
  /// The program and its arguments, if the reproduction runs one.
  std::vector<std::string> program;
  /// The programs that --only selects from, if the reproduction runs several.
  std::vector<std::string> parts = {};
  /// Runs of each point, unless given otherwise.
  int seeds = 5;
};

std::span<const reproduction> reproductions();

/// nabbitc.cpp
reproduced speedups_by_cores(const reproduction&, int seeds, const paper_progress&);
reproduced first_steal_by_cores(const reproduction&, int seeds, const paper_progress&);
reproduced wrong_colors(const reproduction&, int seeds, const paper_progress&);
reproduced nabbitc_ablations(const reproduction&, int seeds, const paper_progress&);
/// rip.cpp
reproduced rip_on_machine(const reproduction&, int seeds, const paper_progress&);
reproduced rip_ablations(const reproduction&, int seeds, const paper_progress&);
/// rip_readings.cpp
reproduced rip_migration(const reproduction&, int seeds, const paper_progress&);
reproduced rip_readings(const reproduction&, int seeds, const paper_progress&);

/// hardware.cpp
reproduced hardware_figures(const reproduction&, int seeds, const paper_progress&);
reproduced hardware_misses(const reproduction&, int seeds, const paper_progress&);
reproduced hardware_kmeans(const reproduction&, int seeds, const paper_progress&);
reproduced hardware_traffic(const reproduction&, int seeds, const paper_progress&);
reproduced hardware_power(const reproduction&, int seeds, const paper_progress&);
reproduced hardware_speedup(const reproduction&, int seeds, const paper_progress&);
reproduced hardware_organisation(const reproduction&, int seeds, const paper_progress&);
reproduced hardware_latency(const reproduction&, int seeds, const paper_progress&);
reproduced hardware_ablations(const reproduction&, int seeds, const paper_progress&);

/// ads.cpp
reproduced ads_scaling(const reproduction&, int seeds, const paper_progress&);
/// ads_beyond.cpp
reproduced ads_beyond(const reproduction&, int seeds, const paper_progress&);
/// ads_details.cpp
reproduced ads_cilk(const reproduction&, int seeds, const paper_progress&);
reproduced ads_power6(const reproduction&, int seeds, const paper_progress&);
reproduced ads_space(const reproduction&, int seeds, const paper_progress&);

/// mir.cpp
reproduced mir_opteron(const reproduction&, int seeds, const paper_progress&);
reproduced mir_ablations(const reproduction&, int seeds, const paper_progress&);
/// mir_tiles.cpp
reproduced mir_tiles(const reproduction&, int seeds, const paper_progress&);

}  // namespace kith::tools
