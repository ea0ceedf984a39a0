// Simulates a recorded graph as parallel loops with a barrier after each step: OpenMP's static and guided schedules,
// as a baseline for policies. This is not a policy: a loop has no tasks, and all workers wait for the slowest.
//
// NabbitC paper, section V. The steps are the levels of the graph (longest path from a source). Times are as in
// fidelity abstract, and colors decide homes.
#pragma once

#include "engine/sim/simulation.hpp"

namespace kith::sim {

enum class loop_schedule : std::uint8_t {
  static_,  // equal contiguous shares, in the order of the colors
  guided,   // the next free worker takes 1/P of what is left
};

/// Simulates the keyed nodes after the recording's last mark; ignores s.policy and s.fidelity. Throws kith::error if
/// there are none.
result simulate_loops(const program&, const machine_model&, const run_options&, loop_schedule);

}  // namespace kith::sim
