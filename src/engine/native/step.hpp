// The parts of a wait that are on every task's path: where a task may run, and its run. work_until() (wait.cpp) and
// help_until_few() (throttle.cpp) are the loops around them. The loops write out the choice between this stack and
// another one, because a function for it costs instructions.
#pragma once

#include "engine/native/find.hpp"
#include "engine/native/worker.hpp"

namespace kith::native {

[[gnu::always_inline]] inline bool worker::may_run_here(const task& t, const pending_wait& w) const noexcept {
  return t.scope == w.scope || w.runs_any_task || is_below(t, w);
}

[[gnu::always_inline]] inline task* worker::run_measured(task& t) {
  return until_measure_-- != 0 ? run(t) : run_sampled(t);
}

}  // namespace kith::native
