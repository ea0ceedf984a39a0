// A schedule that was made before the run: which core runs each task, and which of a core's ready tasks goes first. For
// what looks for good schedules offline (kith what-if). planned.hpp follows it.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::sim {

struct plan {
  std::vector<std::int32_t> core;  // by task; -1, or a core that the run has not: the one that finds it ready
  std::vector<double> rank;        // by task: among those of its core; the least goes first
  bool helps = true;               // a core without ready tasks takes one of another core
};

}  // namespace kith::sim
