// A schedule that was made before the run: which core runs each task, and which of a core's ready tasks goes first. For
// the offline search for good schedules (kith what-if). planned.hpp follows it.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::sim {

struct plan {
  std::vector<std::int32_t> core;  // by task; -1, or a core that does not take part: the core that finds it ready
  std::vector<double> rank;        // by task: among those of its core; the lowest goes first
  bool helps = true;               // a core without ready tasks takes one of another core
};

}  // namespace kith::sim
