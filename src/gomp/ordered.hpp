// Loops with ordered regions: chunks have their turn in the order of their iterations.
#pragma once

namespace kith::gomp {

class team;
struct share_position;

/// Waits for the turn of the member's chunk, if it has one, and gives it to the next chunk.
void pass_turn(team&, share_position&);

}  // namespace kith::gomp
