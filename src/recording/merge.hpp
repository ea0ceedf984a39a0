// Merges the recordings of the places of a job into one, on the clock of place 0.
//
// References to workers, memory nodes, scopes, regions, tasks and types are renumbered. The workers of a place are
// consecutive, in the order of places. Places on one machine share its nodes; the nodes of other machines are at the
// distance distance_of_machines. A task that another place has spawned gets its spawner as its creator, in a scope of
// its own.
#pragma once

#include "recording/place_part.hpp"

#include <vector>

namespace kith {

/// The distance between nodes of two machines: the largest one that ACPI's tables have between nodes that reach
/// each other.
inline constexpr int distance_of_machines = 254;

/// REQUIRES: at least one part; all of them of one job, without addresses. Parts may be missing: places without a part
/// have no workers. Throws kith::error if two parts are of the same place. meta gets `places`, and `clock_corrected`:
/// how many times were moved so that nothing is received before it was sent and no task is created before its creator,
/// and `clock_corrected_ns`: the largest such correction.
recording merge_places(std::vector<place_part> parts);

}  // namespace kith
