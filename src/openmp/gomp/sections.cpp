// The construct sections: a dynamic loop over the numbers of the sections, from 1.
#include "openmp/abi.hpp"
#include "openmp/loop.hpp"

using namespace kith::openmp;

namespace {

construct sections(unsigned count) noexcept {
  return loop_construct(unsigned_space(true, 1, std::uint64_t{count} + 1, 1), {schedule_kind::dynamic, 1});
}

/// 0: none is left.
unsigned next_section() {
  const iteration_range chunk = next_chunk();
  return chunk.is_empty() ? 0 : static_cast<unsigned>(chunk.begin) + 1;
}

/// If the number may be adjusted, no more threads than sections.
unsigned threads_for(unsigned count, unsigned asked) noexcept {
  const icv_set& icv = here().icv();
  const unsigned threads = asked != 0 ? asked : static_cast<unsigned>(icv.threads);
  return icv.dynamic && count != 0 && count < threads ? count : asked;
}

}  // namespace

KITH_OPENMP_API unsigned GOMP_sections_start(unsigned count) {
  enter(sections(count));
  return next_section();
}

KITH_OPENMP_API unsigned GOMP_sections2_start(unsigned count, std::uintptr_t* reductions, void** memory) {
  construct c = sections(count);
  c.reductions = reductions;
  c.memory = memory;
  enter(c);
  return next_section();
}

KITH_OPENMP_API unsigned GOMP_sections_next() { return next_section(); }

KITH_OPENMP_API void GOMP_parallel_sections(void (*body)(void*), void* data, unsigned threads, unsigned count,
                                            unsigned) {
  run_construct(body, data, threads_for(count, threads), sections(count));
}

KITH_OPENMP_API void GOMP_sections_end() { here().team->barrier(); }
KITH_OPENMP_API bool GOMP_sections_end_cancel() { return here().team->barrier_or_cancelled(); }
KITH_OPENMP_API void GOMP_sections_end_nowait() {}
