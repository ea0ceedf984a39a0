// What parallel loops with a barrier after each step would make of a recorded graph: OpenMP's static and guided
// schedules, to compare policies with. Not a policy: a loop has no tasks, and whoever is ready waits for the slowest.
//
// NabbitC paper, section V. The steps are the levels of the graph (longest path from a source). Time is that of fidelity
// abstract, data where the colors say.
#pragma once

#include "engine/sim/simulation.hpp"

namespace kith::sim {

enum class loop_schedule : std::uint8_t {
  static_,  // equal shares of neighbours, in the order of their colors
  guided,   // the next one takes 1/P of what is left
};

/// Of the keyed nodes behind the recording's last mark; s.policy and s.how do not matter. Throws kith::error if there are
/// none.
result simulate_loops(const program&, const machine_model&, const settings&, loop_schedule);

}  // namespace kith::sim
