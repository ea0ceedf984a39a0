// Runs many simulations at once: one thread for each run, as many as there are cores. For `kith sim`, `kith paper`,
// the demo.
#pragma once

#include "engine/sim/simulation.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kith::tools {

/// Calls run(0) to run(count - 1), as many at once as there are cores. tell(done, all) may be called by any thread.
/// Throws the first failure.
void side_by_side(std::size_t count, const std::function<void(std::size_t)>& run,
                  const std::function<void(std::size_t, std::size_t)>& tell = {});

/// Returns results in the order of the options. tell(done, all) may be called by any thread. Throws the
/// first failure.
std::vector<sim::result> simulate_all(const sim::program&, const machine_model&, const std::vector<sim::run_options>&,
                                      const std::function<void(std::size_t, std::size_t)>& tell = {});

/// simulate_all() with result::one_core filled in, so that there are speed-ups. Takes one more run for each
/// seed. REQUIRES: the options differ only in policy, workers and seed.
std::vector<sim::result> simulate_beside_one_core(const sim::program&, const machine_model&,
                                                  std::vector<sim::run_options>,
                                                  const std::function<void(std::size_t, std::size_t)>& tell = {});

/// The values of repeated runs.
struct sample {
  double mean = 0, least = 0, most = 0;
};
sample sample_of(const std::vector<double>&);

}  // namespace kith::tools
