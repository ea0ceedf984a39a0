// Where the calling thread may run while it is a worker, and where memory comes from that it touches first.
//
// Bindings of a thread lie on its stack, one inside the other: a task may run another runtime. The outermost knows what the
// thread had before; kith::unbound, and a child of fork(), go back to that.
#pragma once

#include <sched.h>

#include <vector>

namespace kith::native {

struct thread_place {
  std::vector<int> cpus;  // empty: any
  /// Where these CPUs have no memory of their own: the node, by the system's number, that takes its place for Kith. The
  /// kernel might choose another, and gives huge pages there only to whom asks for the node. -1: not needed.
  int memory = -1;
};

/// Binds the calling thread to a place while it lives, and not to others meanwhile. Does nothing for a place without CPUs,
/// or where the system refuses. A memory policy that the thread has already stays.
class binding {
 public:
  explicit binding(const thread_place& to) noexcept;
  ~binding();
  binding(const binding&) = delete;
  binding& operator=(const binding&) = delete;

  /// The calling thread goes back to what it had before all bindings; true if it has any. Then, as often, resume().
  static bool suspend() noexcept;
  static void resume() noexcept;
  /// In a child of fork(): its one thread is bound no more, and never again by what it inherited.
  static void forget_in_child() noexcept;

 private:
  const binding& outermost() const noexcept;

  cpu_set_t before_, own_;
  const int memory_;
  binding* outer_ = nullptr;
  int suspended_ = 0;  // of the outer one, when this began
  bool bound_ = false;
};

}  // namespace kith::native
