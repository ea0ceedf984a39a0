// What tests do with recordings that are to be replayed.
#pragma once

#include "engine/sim/simulation.hpp"
#include "machine/model.hpp"
#include "recording/recording.hpp"
#include "replay/schedule.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kith::test {

/// The tasks that each worker began, in its order.
inline std::vector<std::vector<std::uint64_t>> decisions(const recording& r) {
  std::vector<std::vector<std::uint64_t>> all;
  for (const auto& steps : schedule_of(r).of_worker) {
    all.emplace_back();
    for (const recorded_schedule::step& s : steps) all.back().push_back(s.explores ? ~s.identity : s.identity);
  }
  return all;
}

/// The machine of simulated runs, read once.
inline const machine_model& replay_machine() {
  static const machine_model m = model_by_name("bullion-s16-8");
  return m;
}

inline recording simulate_again(const sim::program& p, const std::string& policy, int workers, bool scheduling = true,
                                std::uint32_t throttle = 0) {
  sim::run_options set;
  set.policy = policy;
  set.workers = workers;
  set.keep_schedule = true;
  set.parts.scheduling = scheduling;
  set.throttle = throttle;
  return sim::simulate(p, replay_machine(), set).schedule;
}

inline recording simulate_again(const recording& r, const std::string& policy, int workers) {
  return simulate_again(sim::program_of(r), policy, workers);
}

}  // namespace kith::test
