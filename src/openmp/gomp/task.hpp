// What GOMP_task and GOMP_taskloop have in common.
#pragma once

#include "openmp/task.hpp"

namespace kith::openmp {

/// The flags of GOMP_task. Others are hints that need no answer here: `untied` tasks may be tied, and `mergeable` ones
/// need not be merged.
namespace task_flag {
inline constexpr unsigned final_task = 1u << 1, depend = 1u << 3, priority = 1u << 4, counts_up = 1u << 8,
                          grain_size = 1u << 9, if_clause = 1u << 10, no_group = 1u << 11, reduction = 1u << 12,
                          detach = 1u << 13, strict = 1u << 14;
}

/// The request of the common arguments. Callers from older compilers pass fewer: the flags say which are there.
inline task_request request_of(void (*body)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                               unsigned flags, int priority) noexcept {
  return {.code = body_code(body),
          .body = body,
          .data = data,
          .copy = copy,
          .size = static_cast<std::size_t>(size),
          .align = static_cast<std::size_t>(align),
          .final_task = (flags & task_flag::final_task) != 0,
          .priority = (flags & task_flag::priority) != 0 ? priority : 0};
}

}  // namespace kith::openmp
