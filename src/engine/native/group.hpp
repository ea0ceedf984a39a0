// Groups: which task may create tasks in one and wait for it, and what is common to such tasks.
#pragma once

#include "task/scope.hpp"
#include "task/task.hpp"

#include <kith/detail/creation.hpp>

namespace kith::native {

class worker;

/// True if the calling thread runs the task (or root) that made the group with these tasks.
bool runs_owner_of(const detail::scope& group) noexcept;

/// fill() for a task that its creator numbers, not its siblings, because these have several creators. Counts it as
/// created.
reference fill_member(worker& creator, task& t, detail::task_code code, const detail::kept_hints& h);
/// Starts such a task; from then on its scope counts it (C4 in scope.hpp). It may have ended when this returns.
void start_member(worker& w, task& t);

}  // namespace kith::native
