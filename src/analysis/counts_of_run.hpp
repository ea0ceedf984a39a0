// The counts of another run of the same program, for a recording of addresses, which cannot count: what records touches
// would be counted, too.
#pragma once

#include "recording/recording.hpp"

#include <cstddef>

namespace kith::analysis {

/// Gives the tasks of `to` the counts that the same tasks (base/identity.hpp) have in `from`, and the facts of `meta`
/// about them. Returns how many tasks there are in one of the two alone, but for fences; `to` is changed if there are
/// none.
std::size_t take_counts(recording& to, const recording& from);

}  // namespace kith::analysis
