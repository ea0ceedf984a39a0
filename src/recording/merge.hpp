// Puts together what the places of a job have recorded: one recording, on the clock of place 0.
//
// What refers to a worker, a node of memory, a scope, a region, a task or its type gets a new number. Workers of a
// place stand together, in the order of places. Places on one machine share its nodes; those of other machines are far
// away. A task that another place has spawned gets its spawner as its creator, in a scope of its own.
#pragma once

#include "recording/place_part.hpp"

#include <vector>

namespace kith {

/// The distance between nodes of two machines. In ACPI's tables it is the largest one between nodes that reach each
/// other.
inline constexpr int distance_of_machines = 254;

/// REQUIRES: at least one part; all of them of one job, without addresses. Parts may be missing: places of which
/// nothing is known have no workers. Throws kith::error if two parts are of the same place. meta gets `places`, and
/// `clock_corrected`: how many times were moved so that nothing is received before it was sent and no task is created
/// before its creator, and `clock_corrected_ns`: by how much at most.
recording merge_places(std::vector<place_part> parts);

}  // namespace kith
