// What the scheduler's own work costs on this machine: the table [scheduler] of its description.
#pragma once

#include "machine/model.hpp"

#include <string>

namespace kith::tools {

struct measured_scheduler {
  scheduler_costs costs;
  double line_ns = 0;  // for a cache line to go from one core to another; 0: one core alone may be used
};

/// Creating, finding and running tasks on a runtime; pushes, looks and thefts on the very deque that policies use. The
/// least of several repetitions, but the median for a wake: most wakes find the sleeper asleep. On these two CPUs;
/// `second` < 0: there is one, and what takes two is taken for a push.
measured_scheduler measure_scheduler(int first, int second);

/// The table as text, from [scheduler] on.
std::string text_of(const scheduler_costs&);
/// Where its values are from, as the table [sources] says it.
std::string source_of(const measured_scheduler&);

}  // namespace kith::tools
