// Loops whose iterations are spread over tasks.
#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/kmpc/task.hpp"
#include "openmp/loop_plan.hpp"
#include "openmp/task.hpp"
#include "openmp/task_group.hpp"
#include "openmp/task_split.hpp"
#include "openmp/team.hpp"

#include <cstdint>

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

namespace {

/// How a taskloop is divided.
enum division : std::int32_t { by_default = 0, by_grain = 1, by_number = 2 };

/// Sets what the copy has of its own; `is_last`: it has the last iteration. Null: nothing to set.
using copy_members = void (*)(task_descriptor* copy, task_descriptor* pattern, std::int32_t is_last);

void run_taskloop(task_descriptor* pattern, bool at_once, std::uint64_t* first, std::uint64_t* last, std::int64_t step,
                  bool makes_group, std::int32_t divided, std::uint64_t asked, bool strict, copy_members copy) {
  if (makes_group) open_group();
  const std::uint64_t begin = *first, by = static_cast<std::uint64_t>(step);
  const std::uint64_t count =
      inclusive_count(begin, *last, by, step > 0);  // 0 of an empty loop, whose last value is -1
  // Where the bounds are in each copy.
  auto* const from = reinterpret_cast<std::byte*>(pattern);
  const std::ptrdiff_t first_at = reinterpret_cast<std::byte*>(first) - from,
                       last_at = reinterpret_cast<std::byte*>(last) - from;
  if (count != 0) {
    task_split split(count, divided == by_default ? 0 : asked, divided == by_grain, strict, here().team->size);
    split.for_each_task([&](std::uint64_t from_iteration, std::uint64_t to_iteration) {
      task_descriptor* const made = copy_of(pattern);
      auto* const at = reinterpret_cast<std::byte*>(made);
      *reinterpret_cast<std::uint64_t*>(at + first_at) = begin + from_iteration * by;
      *reinterpret_cast<std::uint64_t*>(at + last_at) = begin + (to_iteration - 1) * by;
      if (copy != nullptr) copy(made, pattern, to_iteration == count);
      task_data data{nullptr, made};
      task_request r = request_of(data);
      r.at_once = at_once;
      make_task(r);
    });
  }
  destroy(pattern, here().thread);
  if (makes_group) close_group();
}

}  // namespace

KITH_OPENMP_API void __kmpc_taskloop(const location*, std::int32_t, task_descriptor* pattern, std::int32_t condition,
                                     std::uint64_t* first, std::uint64_t* last, std::int64_t step,
                                     std::int32_t no_group, std::int32_t divided, std::uint64_t asked, void* copy) {
  run_taskloop(pattern, condition == 0, first, last, step, no_group == 0, divided, asked, false,
               reinterpret_cast<copy_members>(copy));
}
KITH_OPENMP_API void __kmpc_taskloop_5(const location*, std::int32_t, task_descriptor* pattern, std::int32_t condition,
                                       std::uint64_t* first, std::uint64_t* last, std::int64_t step,
                                       std::int32_t no_group, std::int32_t divided, std::uint64_t asked,
                                       std::int32_t strict, void* copy) {
  run_taskloop(pattern, condition == 0, first, last, step, no_group == 0, divided, asked, strict != 0,
               reinterpret_cast<copy_members>(copy));
}
