#include "openmp/reduction.hpp"

#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/task_group.hpp"
#include "openmp/team.hpp"

#include <cstddef>
#include <cstdint>

using namespace kith::openmp;

KITH_OPENMP_API void GOMP_taskgroup_reduction_register(std::uintptr_t* descriptor) { register_reductions(descriptor); }
KITH_OPENMP_API void GOMP_taskgroup_reduction_unregister(std::uintptr_t* descriptor) {
  free_private_blocks(descriptor);
}

KITH_OPENMP_API void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  const context& c = here();
  std::uintptr_t* const descriptor = c.group->reductions;
  close_group();
  if (!cancelled) c.team->barrier();
  if (c.thread == 0) free_private_blocks(descriptor);
}

/// Replaces the first `count` addresses by those of the calling thread's copies; for the first `originals` of them,
/// puts the variable's own address behind them all.
KITH_OPENMP_API void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void** addresses) {
  const context& c = here();
  std::uintptr_t* const innermost = c.group != nullptr ? c.group->reductions : nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const private_copy found = find_private_copy(innermost, addresses[i], c.thread);
    addresses[i] = found.here;
    if (i < originals) addresses[count + i] = found.original;
  }
}
