// GOMP_taskloop: a loop whose iterations are spread over tasks.
#include "gomp/abi.hpp"
#include "gomp/context.hpp"
#include "gomp/loop_plan.hpp"
#include "gomp/reduction.hpp"
#include "gomp/task.hpp"
#include "gomp/task_group.hpp"
#include "gomp/team.hpp"

#include <algorithm>
#include <cstdint>

namespace kith::gomp {

namespace {

iteration_space space_of(long start, long end, long step, bool) noexcept { return signed_space(start, end, step); }
iteration_space space_of(unsigned long long start, unsigned long long end, unsigned long long step, bool up) noexcept {
  return unsigned_space(up, start, end, step);
}

struct split {
  std::uint64_t tasks;
  std::uint64_t each;    // iterations of a task
  std::uint64_t longer;  // tasks, the first ones, that have one more
  bool shorter_last;     // the last one has what is left
};

/// `asked` is the number of tasks, or (`is_grain`) of iterations that each has at least, but less than twice as many.
split split_into_tasks(std::uint64_t count, std::uint64_t asked, bool is_grain, bool strict, int threads) {
  if (is_grain && strict) return {(count + asked - 1) / asked, asked, 0, true};
  std::uint64_t tasks = asked != 0 ? asked : static_cast<std::uint64_t>(threads);
  if (is_grain) tasks = count / asked;
  tasks = std::clamp<std::uint64_t>(tasks, 1, count);
  return {tasks, count / tasks, count % tasks, false};
}

/// The data of each task begins with its first iteration and the one after its last.
template <class Number>
void run_taskloop(task_request r, unsigned long asked, Number start, Number end, Number step) {
  const bool makes_group = (r.flags & task_flag::no_group) == 0;
  if (makes_group) open_group();
  if (makes_group && (r.flags & task_flag::reduction) != 0) {
    struct head {
      Number bounds[2];
      std::uintptr_t* reductions;
    };
    register_reductions(static_cast<const head*>(r.data)->reductions);
  }
  const iteration_space all = space_of(start, end, step, (r.flags & task_flag::counts_up) != 0);
  if (all.count != 0) {
    const split s = split_into_tasks(all.count, asked, (r.flags & task_flag::grain_size) != 0 && asked != 0,
                                     (r.flags & task_flag::strict) != 0, here().team->size);
    r.at_once = (r.flags & task_flag::if_clause) == 0;
    r.flags &= ~(task_flag::depend | task_flag::detach);
    std::uint64_t bounds[2], done = 0;
    r.bounds = bounds;
    for (std::uint64_t i = 0; i < s.tasks; ++i) {
      const std::uint64_t mine = s.shorter_last ? std::min(s.each, all.count - done) : s.each + (i < s.longer);
      bounds[0] = all.value(done);
      bounds[1] = all.value(done + mine);
      done += mine;
      make_task(r);
    }
  }
  if (makes_group) close_group();
}

}  // namespace

}  // namespace kith::gomp

using namespace kith::gomp;

KITH_GOMP_API void GOMP_taskloop(void (*fn)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                                 unsigned flags, unsigned long tasks, int priority, long start, long end, long step) {
  run_taskloop(request_of(fn, data, copy, size, align, flags, priority), tasks, start, end, step);
}

KITH_GOMP_API void GOMP_taskloop_ull(void (*fn)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                                     unsigned flags, unsigned long tasks, int priority, unsigned long long start,
                                     unsigned long long end, unsigned long long step) {
  run_taskloop(request_of(fn, data, copy, size, align, flags, priority), tasks, start, end, step);
}
