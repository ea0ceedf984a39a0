// What passes a first-level cache: touches that are hits in any case, whatever ran before, are counted and not
// replayed.
//
// Each task begins with an empty filter of the first level's shape. A hit there is a hit in any core's first level that
// began with other lines, too, because such a cache replaces the line that was used the longest time ago: the lines in
// between are the same. A hit is added to the touches of the row before it, which take the time of hits. Three things
// differ from a run of all rows:
//
//  * The first level that is simulated behind the filter does not see the hits, so it keeps other lines from task to
//    task.
//  * While other cores want a core's lines, a hit is taken for one of the row before it.
//  * A piece of computing between two creations has its share of the rows that are left.
#pragma once

#include "engine/sim/cache_level.hpp"
#include "engine/sim/line_streams.hpp"
#include "machine/model.hpp"

namespace kith::sim {

/// The rows that pass a first level of that shape. Own memory and the depths of stacks are made multiples of its way,
/// so that a line is in the same set on all cores. Throws kith::error if that is impossible, because a way is larger
/// than the stacks. Cost: one look-up a row.
line_streams filtered(line_streams, cache_shape first);

/// The same for the machine's first level. Throws kith::error if it has no table [line], or home caches, to which a
/// first level passes all writes.
line_streams filtered_on(line_streams, const machine_model&);

}  // namespace kith::sim
