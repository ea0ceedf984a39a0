// A guard for code inside tasks that starts threads or programs.
#pragma once

namespace kith {

/// While it lives, the calling thread may run where it might before Kith bound it (KITH_BIND): threads and programs that are
/// started meanwhile inherit that, and not the worker's CPUs. Put it around the first parallel region of an OpenMP pool,
/// std::thread, system(), popen() and posix_spawn(); a child of fork() is unbound by itself. Guards may be nested. A task
/// that waits inside one keeps its worker unbound meanwhile. Does nothing on threads that are not bound: two system calls
/// where one is. On the thread that made it.
class unbound {
 public:
  unbound() noexcept;
  ~unbound();
  unbound(const unbound&) = delete;
  unbound& operator=(const unbound&) = delete;

 private:
  bool counted_;  // the thread was bound when it was made
};

}  // namespace kith
