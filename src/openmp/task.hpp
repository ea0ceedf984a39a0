// Explicit tasks.
#pragma once

#include "openmp/context.hpp"
#include "openmp/task_types.hpp"
#include "openmp/wait.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace kith::openmp {

class access_records;

/// A task as the program passes it.
struct task_request {
  body_code code;  // by which engines and recordings know the task
  void (*body)(void*);
  void* data;                                    // what the body gets, or is copied from
  void (*copy)(void* to, void* from) = nullptr;  // null: the bytes are copied
  std::size_t size, align;                       // of the data
  bool at_once = false;                          // the creator runs it now
  bool final_task = false;
  bool detach = false;  // the data begins with a pointer to its completion_event
  // The body is called even if the task is cancelled, and checks for that itself. It then removes its event.
  bool called_cancelled = false;
  const access_records* depend = nullptr;
  int priority = 0;
  const std::uint64_t* bounds = nullptr;  // two words that replace the first ones of the data; null: none
};

/// Makes the task, or runs it where its team has no workers, and where it must run at once.
void make_task(const task_request&);

/// While it lives, the running code is the body of a task that runs at its creation.
class undeferred_task {
 public:
  explicit undeferred_task(context& maker, bool final_task);
  ~undeferred_task() = default;
  undeferred_task(const undeferred_task&) = delete;
  undeferred_task& operator=(const undeferred_task&) = delete;

 private:
  std::optional<runs_as_child> on_worker_;
  context own_;
  const enters_context entered_;
};

/// Called by each thread of a team at its barriers: no task is queued then.
void forget_queued() noexcept;

}  // namespace kith::openmp
