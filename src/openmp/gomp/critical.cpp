// `critical`, and `atomic` where the processor has no instruction for it.
#include "openmp/abi.hpp"
#include "openmp/lock.hpp"

namespace {

constinit kith::spin_mutex unnamed, of_atomic;

}  // namespace

KITH_OPENMP_API void GOMP_critical_start() { kith::openmp::take_lock(unnamed); }
KITH_OPENMP_API void GOMP_critical_end() { kith::openmp::give_lock(unnamed); }
KITH_OPENMP_API void GOMP_critical_name_start(void** name) {
  kith::openmp::take_lock(kith::openmp::lock_of_name(name));
}
KITH_OPENMP_API void GOMP_critical_name_end(void** name) { kith::openmp::give_lock(kith::openmp::lock_of_name(name)); }
// Nothing waits for tasks while it holds this one.
KITH_OPENMP_API void GOMP_atomic_start() { of_atomic.lock(); }
KITH_OPENMP_API void GOMP_atomic_end() { of_atomic.unlock(); }
