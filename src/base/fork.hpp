// What a child of fork() finds: one thread, and everybody's memory. Locks that the whole process shares are free in it.
//
// POSIX promises a child of a process with threads little more than exec(). Kith does better: what belongs to the parent's
// runtimes is refused with an error, and the child can make runtimes of its own. Functions that start programs without
// fork() (posix_spawn, system, popen) call nothing of this.
//
// A static object that a thread is just making stays half made in the child for ever. Hence what a child may need is made
// where there are no other threads yet, before main(), or without a lock (base/made_once.hpp).
#pragma once

#include <mutex>

namespace kith {

/// The lock is held while the process forks, so that in the child nobody else has it, and what it guards is whole. Then, in
/// the child, with all these locks held, calls `in_child`, which takes none and allocates nothing. For the life of the
/// process; the order of locks is that of these calls. Any thread.
void keep_over_fork(std::mutex& lock, void (*in_child)() noexcept = nullptr);

}  // namespace kith
