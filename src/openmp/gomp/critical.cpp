// `critical`, and `atomic` where the processor has no instruction for it.
#include "openmp/abi.hpp"
#include "openmp/lock.hpp"

namespace {

constinit kith::spin_mutex unnamed, of_atomic;

/// The lock of a name is in the word that the compiler has for it, which is zero at first.
kith::spin_mutex& lock_in(void** word) noexcept { return *reinterpret_cast<kith::spin_mutex*>(word); }

}  // namespace

KITH_OPENMP_API void GOMP_critical_start() { kith::openmp::take_lock(unnamed); }
KITH_OPENMP_API void GOMP_critical_end() { kith::openmp::give_lock(unnamed); }
KITH_OPENMP_API void GOMP_critical_name_start(void** name) { kith::openmp::take_lock(lock_in(name)); }
KITH_OPENMP_API void GOMP_critical_name_end(void** name) { kith::openmp::give_lock(lock_in(name)); }
// Nothing waits for tasks while it holds this one.
KITH_OPENMP_API void GOMP_atomic_start() { of_atomic.lock(); }
KITH_OPENMP_API void GOMP_atomic_end() { of_atomic.unlock(); }
