// Constructs that one thread runs: single, masked, master.
#include "openmp/abi.hpp"
#include "openmp/construct.hpp"
#include "openmp/kmpc/types.hpp"

#include <cstddef>
#include <cstdint>

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

KITH_OPENMP_API std::int32_t __kmpc_single(const location*, std::int32_t) { return enter_single(); }
KITH_OPENMP_API void __kmpc_end_single(const location*, std::int32_t) {}

/// After a `single`: the thread that ran it has something to copy, which the others get. All leave together.
KITH_OPENMP_API void __kmpc_copyprivate(const location*, std::int32_t, std::size_t, void* data,
                                        void (*copy)(void* to, void* from), std::int32_t has_run) {
  team& in = *here().team;
  if (in.size == 1) return;
  if (has_run != 0) {
    publish_copy(data);
  } else {
    copy(data, await_copy());
  }
  in.barrier();
}

/// The same, but the caller copies from what it gets, and then all meet at a barrier. `data` is null in threads that
/// did not run the block.
KITH_OPENMP_API void* __kmpc_copyprivate_light(const location*, std::int32_t, void* data) {
  if (here().team->size == 1) return data;
  if (data != nullptr) publish_copy(data);
  return await_copy();
}

KITH_OPENMP_API std::int32_t __kmpc_masked(const location*, std::int32_t, std::int32_t filter) {
  return here().thread == filter;
}
KITH_OPENMP_API void __kmpc_end_masked(const location*, std::int32_t) {}
KITH_OPENMP_API std::int32_t __kmpc_master(const location*, std::int32_t) { return here().thread == 0; }
KITH_OPENMP_API void __kmpc_end_master(const location*, std::int32_t) {}
KITH_OPENMP_API void __kmpc_scope(const location*, std::int32_t, void*) {}
KITH_OPENMP_API void __kmpc_end_scope(const location*, std::int32_t, void*) {}
