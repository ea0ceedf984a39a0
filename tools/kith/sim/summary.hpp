// The table of `kith sim`: a row of figures for each policy.
#pragma once

#include "engine/sim/simulation.hpp"
#include "sim/runs.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// The mean of repeated runs, and "+-" half their range: empty if all are equal.
struct sample_cells {
  std::string mean, range;
};
/// Formats a sample; "-" if it is not a number.
sample_cells cells_of(const sample&, const char* format, const char* range_format);

/// The table of these results: all seeds of the first policy, then those of the next. With several seeds: means, and
/// below each mean half the range of its values, unless all are equal. With fidelity line it has misses, bytes in the
/// network and energy instead of partitioning, remote data and attempts to steal. REQUIRES: the same number of results
/// for each policy.
std::string table_of(const std::vector<std::string>& policies, const std::vector<sim::result>& results);

}  // namespace kith::tools
