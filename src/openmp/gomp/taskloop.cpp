// GOMP_taskloop: a loop whose iterations are spread over tasks.
#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/gomp/task.hpp"
#include "openmp/loop_plan.hpp"
#include "openmp/reduction.hpp"
#include "openmp/task_group.hpp"
#include "openmp/task_split.hpp"
#include "openmp/team.hpp"

#include <cstdint>

namespace kith::openmp {

namespace {

iteration_space space_of(long start, long end, long step, bool) noexcept { return signed_space(start, end, step); }
iteration_space space_of(unsigned long long start, unsigned long long end, unsigned long long step, bool up) noexcept {
  return unsigned_space(up, start, end, step);
}

/// The data of each task begins with its first iteration and the one after its last.
template <class Number>
void run_taskloop(task_request r, unsigned flags, unsigned long asked, Number start, Number end, Number step) {
  const bool makes_group = (flags & task_flag::no_group) == 0;
  if (makes_group) open_group();
  if (makes_group && (flags & task_flag::reduction) != 0) {
    struct head {
      Number bounds[2];
      std::uintptr_t* reductions;
    };
    register_reductions(static_cast<const head*>(r.data)->reductions);
  }
  const iteration_space all = space_of(start, end, step, (flags & task_flag::counts_up) != 0);
  if (all.count != 0) {
    task_split split(all.count, asked, (flags & task_flag::grain_size) != 0, (flags & task_flag::strict) != 0,
                     here().team->size);
    r.at_once = (flags & task_flag::if_clause) == 0;
    std::uint64_t bounds[2];
    r.bounds = bounds;
    split.for_each_task([&](std::uint64_t first, std::uint64_t behind) {
      bounds[0] = all.value(first);
      bounds[1] = all.value(behind);
      make_task(r);
    });
  }
  if (makes_group) close_group();
}

}  // namespace

}  // namespace kith::openmp

using namespace kith::openmp;

KITH_OPENMP_API void GOMP_taskloop(void (*fn)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                                   unsigned flags, unsigned long tasks, int priority, long start, long end, long step) {
  run_taskloop(request_of(fn, data, copy, size, align, flags, priority), flags, tasks, start, end, step);
}

KITH_OPENMP_API void GOMP_taskloop_ull(void (*fn)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                                       unsigned flags, unsigned long tasks, int priority, unsigned long long start,
                                       unsigned long long end, unsigned long long step) {
  run_taskloop(request_of(fn, data, copy, size, align, flags, priority), flags, tasks, start, end, step);
}
