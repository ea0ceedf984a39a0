// Task groups: what `taskgroup` opens, and each `taskloop` without `nogroup`.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

namespace kith::openmp {

namespace kmpc {
class reductions;
}

/// Its members are the tasks that are made while it is open, and what they make. It is open until these have ended.
struct task_group {
  task_group* outer = nullptr;
  std::uintptr_t* reductions = nullptr;  // the innermost descriptor that is registered; null: none
  kmpc::reductions* begun = nullptr;     // of LLVM's programs: those that the group combines at its end
  atomic<bool> cancelled{false};         // tasks that have not begun do not begin any more
};

/// Opens a group in the running task.
void open_group();
/// Waits for the running task's tasks, and closes its innermost group. This waits also for tasks that the task has made
/// before the group.
void close_group();

}  // namespace kith::openmp
