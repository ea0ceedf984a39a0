// Commutative accesses: siblings that share a region take turns, in the order in which they became ready. Scopes do not
// exclude each other: a task that holds a region may have children that take turns at it.
//
// A task takes the turns of its regions in ascending order of their indices, so that two tasks cannot wait for each
// other. Where a region is held it is queued there, and goes on when the region is handed to it: it is
// ready, so the queue is linked through the task itself, and a turn costs the same however many wait. Any thread.
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

/// True if the task now holds all its commutative regions; else it is queued at one, and a later give_turns() will
/// return it.
bool take_turns(const region_table& regions, task& t);

/// Gives up the task's regions; appends to `ready` the tasks that hold all of theirs now.
void give_turns(const region_table& regions, task& t, std::vector<task*>& ready);

}  // namespace kith
