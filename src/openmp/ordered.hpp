// Loops with ordered regions: chunks have their turn in the order of their iterations.
#pragma once

namespace kith::openmp {

class team;
struct share_position;

/// Waits for the turn of the chunk that the calling member runs. It keeps the turn until its chunk ends.
void await_turn();
/// Waits for the turn of the member's chunk, if it has one, and gives it to the next chunk.
void pass_turn(team&, share_position&);

}  // namespace kith::openmp
