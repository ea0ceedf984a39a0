// What the many entry points of loops come to.
#pragma once

#include "openmp/construct.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::openmp {

/// How a loop is to be cut, as an entry point says it by its name or in an argument.
struct loop_schedule {
  schedule_kind kind = schedule_kind::static_;
  std::uint64_t chunk = 0;
  bool by_setting = false;  // schedule(runtime): the running code's setting
};

loop_schedule fixed_schedule(schedule_kind, long chunk) noexcept;
loop_schedule fixed_schedule(schedule_kind, unsigned long long chunk) noexcept;
/// By the running code's setting.
loop_schedule runtime_schedule() noexcept;
/// Of the entry points that take it as an argument: the numbers of omp_sched_t, and 0 for runtime.
template <class Chunk>
loop_schedule schedule_of(long number, Chunk chunk) noexcept {
  const unsigned kind = static_cast<unsigned>(number) & 0x7fffffffU;  // without the modifier `monotonic`
  if (kind == 0 || kind > 3) return runtime_schedule();               // automatic: schedule(nonmonotonic: runtime)
  return fixed_schedule(static_cast<schedule_kind>(kind), chunk);
}

construct loop_construct(const iteration_space&, const loop_schedule&, bool ordered = false) noexcept;
/// Of a nest whose iterations depend on each other; `counts` has the iterations of each loop.
construct nest_construct(unsigned loops, const std::uint64_t* counts, const loop_schedule&) noexcept;

/// Gives the member's next chunk, and whether there is one.
template <class Value>
bool next_chunk(Value* begin, Value* end) {
  const iteration_range chunk = next_chunk();
  if (chunk.is_empty()) return false;
  const iteration_space& space = member_of(here()).shares.loop.space;
  *begin = static_cast<Value>(space.value(chunk.begin));
  *end = static_cast<Value>(space.bound(chunk.end));
  return true;
}

/// Enters the loop, and gives the first chunk. Without a place for it: only enters, and the answer is true.
template <class Value>
bool start_loop(const construct& c, Value* begin, Value* end) {
  enter(c);
  return begin == nullptr || next_chunk(begin, end);
}

/// A region that consists of one loop, or of sections; its members go on with next_chunk().
void run_construct(void (*body)(void*), void* data, unsigned threads, construct c);

}  // namespace kith::openmp
