// The energy of what happened at fidelity *line*: counts of events times the machine's energies of one (table
// [energy]).
//
// Dynamic energy of caches, directory, memory, mesh and scheduling unit. Not in it: leakage, clocks, the cores
// themselves and their instruction caches, refresh of memory, and tags of the second level that are looked at for
// nothing but an invalidation.
#pragma once

#include "engine/sim/line_memory.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace kith::sim {

/// By part, in nanojoules.
struct part_energies {
  double first = 0, second = 0;  // the cores' caches
  double directory = 0, memory = 0, network = 0, unit = 0;

  double sum() const noexcept { return first + second + directory + memory + network + unit; }
};

/// The keys that the machine's table [energy] lacks, as "energy.memory_access, ..."; empty if it is complete.
/// `in_unit`: queues are in the scheduling unit.
std::string missing_energies(const machine_model&, bool in_unit);

/// No value if keys are missing. `network`: the energy of the mesh, in nanojoules; `operations`: those of the
/// scheduling unit.
///
///  * First level: an access for each touch.
///  * Second level: one for each miss of the first level, and for each line that arrives, is sent to another core,
///    or is written back; with home caches also for each write that a home gets.
///  * Directory: one for each miss of the second level, each permission to write, and each line that is written
///    back; none with home caches.
///  * Memory: one for each line that it sends or gets.
std::optional<part_energies> energies_of(const line_counts&, double network, std::uint64_t operations,
                                         const machine_model&, bool in_unit);

}  // namespace kith::sim
