// Support for children of fork(), which have one thread and a copy of all memory: locks shared by the whole
// process are free in them.
//
// POSIX promises a child of a process with threads little more than exec(). Kith does more: calls to the
// parent's runtimes are refused with an error, and the child can make runtimes of its own. Functions that start
// programs without fork() (posix_spawn, system, popen) run none of this.
//
// If fork() comes while another thread initialises a static object, the object stays half-initialised in the
// child for ever. So objects that a child may need are made before main(), when there are no other threads, or
// without a lock (base/made_once.hpp).
#pragma once

#include <cstdint>
#include <mutex>

namespace kith {

/// Holds the lock from here on whenever the process forks, so that in the child no other thread holds it, and the data
/// that it guards is consistent. Then `in_child` is called in the child, with all these locks held; it must take no
/// lock and allocate nothing. Locks are taken in the order of these calls. Thread-safe.
void keep_over_fork(std::mutex& lock, void (*in_child)() noexcept = nullptr);

/// Differs between a process and its children of fork(), once keep_over_fork() has been called.
std::uint32_t forks() noexcept;

}  // namespace kith
