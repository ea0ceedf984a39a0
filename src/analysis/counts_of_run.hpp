// Takes the counts for a recording of addresses from another run of the same program. The recording itself has none,
// because the code that records touches would be counted, too.
#pragma once

#include "recording/recording.hpp"

#include <cstddef>

namespace kith::analysis {

/// Gives the tasks of `to` the counts that the same tasks (base/identity.hpp) have in `from`, and copies the entries of
/// `meta` about them. Returns the number of tasks, without fences, that only one of the two has; changes `to` only if
/// that is 0.
std::size_t take_counts(recording& to, const recording& from);

}  // namespace kith::analysis
