// Explicit tasks: what GOMP_task and GOMP_taskloop make.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::gomp {

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
  bool at_once = false;                // the creator runs it now
  unsigned flags;
  void** depend = nullptr;  // null: none
  int priority;
  const std::uint64_t* bounds = nullptr;  // of a taskloop: two words that the task's data begins with; null: none
};

/// The request of GOMP_task and GOMP_taskloop's common arguments. Callers from older compilers pass fewer: the flags
/// say which are there.
inline task_request request_of(void (*body)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                               unsigned flags, int priority) noexcept {
  return {.body = body,
          .data = data,
          .copy = copy,
          .size = static_cast<std::size_t>(size),
          .align = static_cast<std::size_t>(align),
          .flags = flags,
          .priority = (flags & task_flag::priority) != 0 ? priority : 0};
}

/// Called by each thread of a team at its barriers: no task is queued then.
void forget_queued() noexcept;

/// Makes the task, or runs it where its team has no workers, and where it must run at once.
void make_task(const task_request&);

}  // namespace kith::gomp
