// Explicit tasks of the ABI. The program gets memory for one, fills it, and says when it is made.
#pragma once

#include "openmp/kmpc/task_memory.hpp"
#include "openmp/kmpc/types.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::openmp {

class completion_event;
class undeferred_task;
struct task_request;

namespace kmpc {

/// What precedes a task's descriptor in its memory.
struct alignas(64) task_block {
  memory_origin origin = {};           // of the memory, which begins with the block
  std::size_t bytes = 0;               // of the descriptor, what the compiler keeps behind it, and the shared pointers
  completion_event* event = nullptr;   // null: not detached
  undeferred_task* running = nullptr;  // between begin_if0 and complete_if0
  const location* made_at = nullptr;   // in the source; may be null
  const void* called_from = nullptr;   // the code that made it
  std::int32_t flags = 0;
  bool in_body = false;   // between the beginning and the end of the body
  bool has_more = false;  // of an untied task's body, which is called once for each of its parts
};

namespace task_flag {
inline constexpr std::int32_t final_task = 1 << 1, destructors = 1 << 3, has_priority = 1 << 5;
}

/// The block of a task that the program has got.
task_block& block_of(task_descriptor*) noexcept;
/// A new task, all of whose bytes are those of `from`, except the pointer to the shared ones.
task_descriptor* copy_of(task_descriptor* from);
/// Calls the destructors of what the task has copied, and frees it.
void destroy(task_descriptor*, std::int32_t thread);
/// What the body of a task gets.
struct task_data {
  completion_event* event;  // the first word, as task_request wants it
  task_descriptor* task;
};
/// The request of the task. It refers to the data.
task_request request_of(task_data&) noexcept;

}  // namespace kmpc

}  // namespace kith::openmp
