// A recording of places as a program: each task stays at its place, and what another place spawns travels to it.
#pragma once

#include "engine/sim/program.hpp"
#include "engine/sim/simulation.hpp"

namespace kith::sim {

/// A step of a task that sends a request or waits for its reply.
struct request_step {
  std::int32_t task = -1;
  std::uint64_t begun = 0, ended = 0;  // as recorded
  std::size_t request = 0;
  bool awaits = false;  // waits for the reply; else sends the request
};
struct prepared_places {
  std::vector<program::request> requests;
  std::vector<request_step> steps;
};

/// Turns a recording of places into one that program_of() can read: the end of run() becomes a wait for all that it has
/// spawned, a part of a coroutine is created when the one before it was suspended, and waits for the acceptance of an
/// activity are left out, because the simulator has its own. Does nothing if there are no places. Throws kith::error
/// for what cannot be replayed.
prepared_places prepare_places(recording&);

/// Fills in, from its recording, what the program says of places.
void add_places(program&);

/// Sets the options for a program that was recorded with places: as many places, each with `workers` workers (0: on all
/// cores of its share of the machine). A worker whose activity is not yet accepted runs other tasks, which is the
/// default (kith::place_waiting::works).
void use_recorded_places(run_options&, const program&, int workers);

}  // namespace kith::sim
