// How deep in the program each task is: an order of what happened in one moment.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <vector>

namespace kith {

/// The longest way, in steps, that leads to the exploration and to the beginning of a task: through creations, dependences
/// (from the end of what comes before), waits (the end of a task is behind that of what it waited for) and, as if each task
/// ran when it was created, from the end of the task that the same one created before, graphs' nodes apart; and from the exploration of each node to the beginning of all others, where all are found first. What has to
/// come before something else has a lower level. Waits for a future are left out: they do not name their task.
struct task_levels {
  std::vector<std::uint32_t> exploration, beginning;  // by task; the first is 0 but for keyed nodes
};

/// Takes time in proportion to tasks and dependences. In a damaged recording, what waits for itself has level 0.
task_levels levels_of(const recording&);

}  // namespace kith
