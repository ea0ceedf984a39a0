// The locks of `critical`, and those of omp_lock_t.
#pragma once

#include "base/spin_mutex.hpp"

namespace kith::openmp {

// The running task's context counts the locks that it holds: while there are any, the task makes no other one run on
// its worker, except those that it waits for. So no task waits here on top of the one that holds the lock.

/// The lock of a name is in what the compiler has for it, which is zero at first.
inline spin_mutex& lock_of_name(void* name) noexcept { return *static_cast<spin_mutex*>(name); }

/// Takes the lock, once it is free; the thread sleeps until then, or after some time runs other tasks.
void take_lock(spin_mutex& lock);
/// Takes the lock if it is free.
bool try_take_lock(spin_mutex& lock);
void give_lock(spin_mutex& lock) noexcept;

}  // namespace kith::openmp
