// What one thread does at a time: critical regions, and reductions of threads; flush.
#include "openmp/abi.hpp"
#include "openmp/context.hpp"
#include "openmp/kmpc/types.hpp"
#include "openmp/lock.hpp"
#include "openmp/team.hpp"

#include <cstddef>
#include <cstdint>

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

namespace {

/// Thread after thread reduces into the variables.
constexpr std::int32_t reduce_now = 1;

}  // namespace

KITH_OPENMP_API void __kmpc_critical(const location*, std::int32_t, critical_name* name) {
  take_lock(lock_of_name(name));
}
KITH_OPENMP_API void __kmpc_critical_with_hint(const location*, std::int32_t, critical_name* name, std::uint32_t) {
  take_lock(lock_of_name(name));
}
KITH_OPENMP_API void __kmpc_end_critical(const location*, std::int32_t, critical_name* name) {
  give_lock(lock_of_name(name));
}

KITH_OPENMP_API std::int32_t __kmpc_reduce(const location*, std::int32_t, std::int32_t, std::size_t, void*,
                                           void (*)(void*, void*), critical_name* name) {
  take_lock(lock_of_name(name));
  return reduce_now;
}
KITH_OPENMP_API void __kmpc_end_reduce(const location*, std::int32_t, critical_name* name) {
  give_lock(lock_of_name(name));
  here().team->barrier();
}
KITH_OPENMP_API std::int32_t __kmpc_reduce_nowait(const location*, std::int32_t, std::int32_t, std::size_t, void*,
                                                  void (*)(void*, void*), critical_name* name) {
  take_lock(lock_of_name(name));
  return reduce_now;
}
KITH_OPENMP_API void __kmpc_end_reduce_nowait(const location*, std::int32_t, critical_name* name) {
  give_lock(lock_of_name(name));
}

KITH_OPENMP_API void __kmpc_flush(const location*) { __sync_synchronize(); }
