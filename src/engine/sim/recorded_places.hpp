// A recording of places as a program: each task stays at its place, and what another place spawns travels there.
#pragma once

#include "engine/sim/program.hpp"
#include "engine/sim/simulation.hpp"

namespace kith::sim {

/// A step of a task that has to do with a request.
struct request_step {
  std::int32_t task = -1;
  std::uint64_t begun = 0, ended = 0;  // as recorded
  std::size_t request = 0;
  bool awaits = false;  // its reply; else it is sent
};
struct prepared_places {
  std::vector<program::request> requests;
  std::vector<request_step> steps;
};

/// Makes the recording of places one that program_of() can read: the end of run() is a wait for all that it has
/// spawned, a part of a coroutine is created when the one before it was suspended, and waits for the acceptance of an
/// activity are left out, because the simulator has its own. Does nothing if there are no places. Throws kith::error
/// for what cannot be replayed.
prepared_places prepare_places(recording&);

/// Fills what the program says of places, from its recording.
void add_places(program&);

/// Of a program that was recorded with places: as many, each with `workers` workers (0: on all cores of its share of
/// the machine). A worker whose activity is not yet accepted runs other tasks, as is usual
/// (kith::place_waiting::works).
void use_recorded_places(run_options&, const program&, int workers);

}  // namespace kith::sim
