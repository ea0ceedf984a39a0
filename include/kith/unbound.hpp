// A guard for code inside tasks that starts threads or programs.
#pragma once

namespace kith {

/// While it lives, the calling thread may run wherever it could before Kith bound it (KITH_BIND). Threads and
/// programs started meanwhile inherit that instead of the worker's CPUs. Put it around the first parallel region
/// of an OpenMP pool, std::thread, system(), popen() and posix_spawn(); a child of fork() is unbound without it.
/// Guards may be nested. A task that waits inside one keeps its worker unbound meanwhile. Takes two system calls
/// on a bound thread and does nothing on others. Must be destroyed on the thread that made it.
class unbound {
 public:
  unbound() noexcept;
  ~unbound();
  unbound(const unbound&) = delete;
  unbound& operator=(const unbound&) = delete;

 private:
  bool counted_;  // whether the thread was bound when it was made
};

}  // namespace kith
