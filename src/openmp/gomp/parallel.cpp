// Parallel regions, and barriers.
#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/reduction.hpp"
#include "openmp/region.hpp"
#include "openmp/task_group.hpp"

#include <cstdint>

using namespace kith::openmp;

KITH_OPENMP_API void GOMP_parallel(void (*fn)(void*), void* data, unsigned threads, unsigned) {
  run_region({.code = body_code(fn), .body = fn, .data = data, .threads = threads});
}

/// The members begin in a task group with the reductions that *data names first.
KITH_OPENMP_API unsigned GOMP_parallel_reductions(void (*fn)(void*), void* data, unsigned threads, unsigned) {
  task_group group;
  struct setup {
    task_group& group;
    std::uintptr_t* descriptor;
  } of{group, *static_cast<std::uintptr_t**>(data)};
  const int size = run_region({.code = body_code(fn),
                               .body = fn,
                               .data = data,
                               .threads = threads,
                               .prepare =
                                   [](team& t, void* with) {
                                     const setup& s = *static_cast<setup*>(with);
                                     make_private_blocks(s.descriptor, nullptr, t.size);
                                     s.group.reductions = s.descriptor;
                                     t.group_of_all = &s.group;
                                   },
                               .with = &of});
  return static_cast<unsigned>(size);
}

KITH_OPENMP_API void GOMP_barrier() { here().team->barrier(); }
KITH_OPENMP_API bool GOMP_barrier_cancel() { return here().team->barrier_or_cancelled(); }
