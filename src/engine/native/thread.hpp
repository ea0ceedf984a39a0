// A thread with a stack of its own, and where threads may run.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace kith::native {

/// Starts at once, joins in the destructor. The stack is mapped fresh, so that its pages lie where the thread first
/// touches them (recycled stacks stay on the node of their first user). Throws kith::error if the system refuses.
class thread {
 public:
  /// `node`: where the stack's pages are to be, by the system's number, the part that the starting thread touches (thread
  /// control block, thread-local data) included; -1: where they are first touched.
  thread(std::string name, std::size_t stack_bytes, std::function<void()> body, int node = -1);
  thread(thread&&) noexcept;
  thread& operator=(thread&&) = delete;
  ~thread();

 private:
  struct start;
  pthread_t id_;
  void* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
  bool joinable_ = false;
};

/// Binds the calling thread to one cpu while it lives. Does nothing for a negative cpu, or where the system refuses.
class binding {
 public:
  explicit binding(int cpu) noexcept;
  ~binding();
  binding(const binding&) = delete;
  binding& operator=(const binding&) = delete;

 private:
  cpu_set_t before_;
  bool bound_ = false;
};

/// Lowest address of the calling thread's stack.
std::uintptr_t stack_bottom() noexcept;

}  // namespace kith::native
