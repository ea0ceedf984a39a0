// Programs that share a machine: the slow-down of each. For `kith sim --together`.
#pragma once

#include "engine/sim/simulation.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace kith::tools {

/// The slow-down of a program in such a run.
struct program_slowdown {
  double start_seconds = 0, seconds = 0, alone_seconds = 0;
  /// Normalized turnaround time: the time over that alone; 1 for a program that takes no time alone.
  double slowdown = 1;
};

/// The figures of one run of several programs. Definitions: S. Eyerman, L. Eeckhout, System-Level Performance Metrics
/// for Multiprogram Workloads, IEEE Micro 28(3), 2008.
struct multiprogram_figures {
  std::vector<program_slowdown> programs;
  double antt = 1;      // average normalized turnaround time: the mean slow-down; at least 1 in most cases
  double stp = 0;       // system throughput: the sum of 1 / slow-down, the weighted speed-up of Snavely and Tullsen
  double fairness = 1;  // the least slow-down over the greatest; 1 if all are slowed alike
};

/// `alone[k]`: program k under the same policy, with the same seed. REQUIRES: one for each of the run's programs.
multiprogram_figures multiprogram_figures_of(const sim::result& together, const std::vector<sim::picoseconds>& alone);

/// The JSON keys that such a run has beside those of json_row(). `files`, `tasks`: by program.
nlohmann::json multiprogram_row(const multiprogram_figures&, const std::vector<std::string>& files,
                                const std::vector<std::size_t>& tasks);

/// Prints a row for each policy and program: means over the seeds. `all` is by policy, then by seed.
void print_multiprogram(const std::vector<std::string>& policies, const std::vector<std::string>& files,
                        const std::vector<multiprogram_figures>& all, std::size_t seeds);

}  // namespace kith::tools
