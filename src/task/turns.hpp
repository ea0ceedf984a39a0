// Commutative accesses: siblings that share a region take turns, in the order in which they became ready. Tasks of
// different scopes do not exclude each other: a task that holds a region may have children that take turns at it.
//
// A task takes the turns of its regions in ascending order of their indices, so that two tasks cannot wait for
// each other. If a region is held, the task is queued there, and continues when the region is handed to it. The
// queue is linked through the tasks themselves, which is possible because they are ready, so a turn costs the
// same however many tasks wait. Thread-safe.
#pragma once

#include "task/region.hpp"
#include "task/task.hpp"

#include <vector>

namespace kith {

/// Whether the task has turns to take.
inline bool has_turns(const task& t) noexcept {
  for (kept_access a : t.access_list()) {
    if (a.how == mode::commutative) return true;
  }
  return false;
}

/// True if the task holds all its commutative regions; else it is queued at one of them, and a later give_turns() will
/// return it.
bool take_turns(const region_table& regions, task& t);

/// Gives up the task's regions. Appends to `ready` the tasks that hold all of theirs after it.
void give_turns(const region_table& regions, task& t, std::vector<task*>& ready);

}  // namespace kith
