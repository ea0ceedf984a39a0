// Several recorded programs as one, so that a simulation runs them at once on one machine.
#pragma once

#include "engine/sim/program.hpp"

#include <vector>

namespace kith::sim {

/// A program with the tasks of all, a member each, in their order. They share nothing: each keeps its roots and scopes,
/// has its own types, and its memory follows that of the members before it, at the same offset in a GiB, in lines at
/// the same offset in a MiB. What only a recording needs is left out: waits, marks, addresses that tasks touched
/// (`lines` has them), and what was measured.
///
/// REQUIRES: at least one program; each has one member and no places. Throws kith::error if some have lines and others
/// have none, or lines of another size, and if together they have more tasks, types, memory or lines than can be
/// numbered.
/// Cost: a copy of all tables.
program combine(const std::vector<program>& all);

}  // namespace kith::sim
