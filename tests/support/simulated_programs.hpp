// Programs and a machine for tests of the simulator.
#pragma once

#include "base/rng.hpp"
#include "engine/sim/simulation.hpp"
#include "machine/model.hpp"
#include "support/recordings.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {

/// The chip of 32 cores. Only tasks and the scheduling unit take time there.
inline machine_model free_chip() {
  machine_model m = model_by_name("cmp-32");
  m.costs = {};
  return m;
}

/// Only tasks take time.
inline sim::run_options plain(const std::string& policy, int workers) {
  sim::run_options s;
  s.policy = policy;
  s.workers = workers;
  s.fidelity = sim::fidelity::abstract;
  s.parts.scheduling = s.parts.contention = s.noise = false;
  s.keep_schedule = true;
  return s;
}

/// Task 0 is the root; the others are numbered from 1 on.
inline sim::program independent_tasks(int tasks, std::uint64_t work_ns = 1000) {
  script s;
  for (int t = 0; t < tasks; ++t) s.task(work_ns);
  return sim::program_of(s.finish());
}

/// Tasks with up to three predecessors and accesses each.
inline sim::program random_program(std::uint64_t seed, int tasks) {
  rng draw(seed, purpose::test, 0);
  script s;
  for (int r = 0; r < 20; ++r) s.region(1000 + draw.below(200000));
  for (int t = 1; t <= tasks; ++t) {
    std::vector<std::int32_t> before;
    for (std::uint32_t d = draw.below(4); d > 0 && t > 1; --d)
      before.push_back(1 + static_cast<std::int32_t>(draw.below(static_cast<std::uint32_t>(t - 1))));
    std::vector<recorded_access> accesses;
    for (std::uint32_t a = draw.below(4); a > 0; --a) {
      const std::uint32_t region = draw.below(20);
      accesses.push_back({region, static_cast<std::uint8_t>(draw.below(3)), 1000, 1000});
    }
    s.task(100 + draw.below(100000), before, accesses);
  }
  return sim::program_of(s.finish());
}

}  // namespace kith::test
