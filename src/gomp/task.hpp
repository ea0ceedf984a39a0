// Explicit tasks: what GOMP_task and GOMP_taskloop make.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::gomp {

struct context;

/// The flags of GOMP_task. Others are hints that need no answer here: `untied` tasks may be tied, and `mergeable` ones
/// need not be merged.
namespace task_flag {
inline constexpr unsigned final_task = 1u << 1, depend = 1u << 3, priority = 1u << 4, counts_up = 1u << 8,
                          grain_size = 1u << 9, if_clause = 1u << 10, no_group = 1u << 11, reduction = 1u << 12,
                          detach = 1u << 13, strict = 1u << 14;
}

/// A task as the program passes it.
struct task_request {
  void (*body)(void*);
  void* data;                          // what the body gets, or is copied from
  void (*copy)(void* to, void* from);  // null: the bytes are copied
  std::size_t size, align;             // of the data
  bool at_once;                        // the creator runs it now
  unsigned flags;
  void** depend;  // null: none
  int priority;
  const std::uint64_t* bounds;  // of a taskloop: two words that the task's data begins with; null: none
};

/// Called by each thread of a team at its barriers: no task is queued then.
void forget_queued() noexcept;

/// Makes the task, or runs it where its team has no workers, and where it must run at once.
void make_task(const task_request&);

}  // namespace kith::gomp
