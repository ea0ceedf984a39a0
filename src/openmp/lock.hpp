// The locks of `critical`, and those of omp_lock_t.
#pragma once

#include "base/spin_mutex.hpp"

namespace kith::openmp {

// The running task's context counts the locks that it holds: while there are any, tasks that it creates do not run at
// their creation, because they may want the lock. In its waits only these run, and tasks below them.

/// The lock of a name is in what the compiler has for it, which is zero at first.
inline spin_mutex& lock_of_name(void* name) noexcept { return *static_cast<spin_mutex*>(name); }

/// Takes the lock, once it is free; the thread sleeps until then. It runs no tasks meanwhile, as OpenMP demands.
void take_lock(spin_mutex& lock);
/// Takes the lock if it is free.
bool try_take_lock(spin_mutex& lock);
void give_lock(spin_mutex& lock) noexcept;

}  // namespace kith::openmp
