#include "openmp/loop.hpp"

#include "openmp/region.hpp"

namespace kith::openmp {

namespace {

void prepare(team& made, void* with) { enter_all(made, *static_cast<const construct*>(with)); }

}  // namespace

loop_schedule fixed_schedule(schedule_kind kind, long chunk) noexcept {
  return {kind, chunk < 0 ? 0 : static_cast<std::uint64_t>(chunk), false};
}

loop_schedule fixed_schedule(schedule_kind kind, unsigned long long chunk) noexcept { return {kind, chunk, false}; }

loop_schedule runtime_schedule() noexcept {
  const icv_set& icv = here().icv();
  return {icv.schedule, icv.chunk < 0 ? 0 : static_cast<std::uint64_t>(icv.chunk), true};
}

construct loop_construct(const iteration_space& space, const loop_schedule& schedule, bool ordered) noexcept {
  construct c;
  c.loop = plan_loop(space, schedule.kind, schedule.chunk, ordered);
  c.by_setting = schedule.by_setting;
  return c;
}

construct nest_construct(unsigned loops, const std::uint64_t* counts, const loop_schedule& schedule) noexcept {
  construct c = loop_construct(unsigned_space(true, 0, counts[0], 1), schedule);
  c.counts = counts;
  c.loops = loops;
  return c;
}

void run_construct(void (*body)(void*), void* data, unsigned threads, construct c) {
  run_region({.code = body_code(body), .body = body, .data = data, .threads = threads, .prepare = prepare, .with = &c});
}

}  // namespace kith::openmp
