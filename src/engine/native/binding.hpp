// Where the calling thread may run while it is a worker.
//
// Bindings of a thread lie on its stack, one inside the other: a task may run another runtime. The outermost knows what the
// thread had before; kith::unbound, and a child of fork(), go back to that.
#pragma once

#include <sched.h>

#include <span>

namespace kith::native {

/// Binds the calling thread to these CPUs while it lives, and not to others meanwhile. Does nothing for none, or where the
/// system refuses.
class binding {
 public:
  explicit binding(std::span<const int> cpus) noexcept;
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
  binding* outer_ = nullptr;
  int suspended_ = 0;  // of the outer one, when this began
  bool bound_ = false;
};

}  // namespace kith::native
