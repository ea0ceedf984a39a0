// Where the calling thread may run while it is a worker, and the node of memory that it touches first.
//
// Bindings of a thread are on its stack and may be nested, because a task may run another runtime. The outermost one
// keeps the affinity that the thread had before; kith::unbound and a child of fork() go back to that.
#pragma once

#include <sched.h>

#include <vector>

namespace kith::native {

struct thread_affinity {
  std::vector<int> cpus;  // empty: any
  /// If these CPUs' node has no memory: the node that Kith uses instead, by the system's number. The kernel might
  /// choose another node, and gives huge pages there only to a thread that asks for the node. -1: not needed.
  int memory = -1;
};

/// Gives the calling thread this affinity while it lives; replaces outer bindings meanwhile. Does nothing without CPUs,
/// or if the system refuses. Leaves a memory policy that the thread already has.
class binding {
 public:
  explicit binding(const thread_affinity& to) noexcept;
  ~binding();
  binding(const binding&) = delete;
  binding& operator=(const binding&) = delete;

  /// Restores the affinity that the calling thread had before all bindings. True if it has a binding; the caller must
  /// then call resume() once for each suspend().
  static bool suspend() noexcept;
  static void resume() noexcept;
  /// Called in a child of fork(): its only thread is no longer bound, and inherited bindings never bind it again.
  static void forget_in_child() noexcept;

 private:
  const binding& outermost() const noexcept;

  cpu_set_t before_, own_;
  const int memory_;
  binding* outer_ = nullptr;
  int suspended_ = 0;  // the count of the outer binding when this one began
  bool bound_ = false;
};

}  // namespace kith::native
