// Measures what the scheduler's own work costs on this machine: the table [scheduler] of its description.
#pragma once

#include "machine/model.hpp"

#include <string>

namespace kith::tools {

struct measured_scheduler {
  scheduler_costs costs;
  double line_ns = 0;  // for a cache line to travel from one core to another; 0: only one core may be used
};

/// Measures creating, finding and running tasks on a runtime, and pushes, looks and thefts on the deque that policies
/// use. Values are the least of several repetitions; the wake is the median, because most wakes find the sleeper
/// asleep. Measures on these two CPUs; if `second` < 0 there is only one, and values that need two are set to that of
/// a push.
measured_scheduler measure_scheduler(int first, int second);

/// The table as text, from [scheduler] on.
std::string text_of(const scheduler_costs&);
/// The origin of its values, as the table [sources] states it.
std::string source_of(const measured_scheduler&);

}  // namespace kith::tools
