// The types of LLVM's OpenMP ABI, as Clang, and Flang since version 16, use them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::openmp::kmpc {

/// A location in the source (ident_t).
struct location {
  std::int32_t reserved_1;
  std::int32_t flags;
  std::int32_t reserved_2, reserved_3;
  const char* text;  // ";file;function;line;column;;"; names are "unknown" without -g
};

/// The body of a parallel region: the numbers of its thread in the process and in the team, and its variables.
using microtask = void (*)(std::int32_t*, std::int32_t*, ...);

/// An explicit task (kmp_task_t). What the compiler keeps for it follows.
struct task_descriptor;
using task_entry = std::int32_t (*)(std::int32_t thread, task_descriptor*);
struct task_descriptor {
  void* shareds;  // pointers to variables of its creator
  task_entry entry;
  std::int32_t part;
  union {
    std::int32_t priority;
    task_entry destructors;
  } data_1, data_2;
};
static_assert(sizeof(task_descriptor) == 40);

/// An item of `depend` clauses (kmp_depend_info_t).
struct dependence {
  std::intptr_t address;
  std::size_t bytes;
  std::uint8_t flags;
};
static_assert(sizeof(dependence) == 24);

/// The lock of a critical region's name (kmp_critical_name), which is zero at first.
using critical_name = std::int32_t[8];

}  // namespace kith::openmp::kmpc
