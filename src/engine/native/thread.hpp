// A thread with a stack of its own.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace kith::native {

/// Where the pages of a thread's stack should be. This includes the pages that the starting thread touches
/// first (thread control block, thread-local data).
struct stack_home {
  int node = -1;  // the system's number; -1: where the pages are first touched
  int cpu = -1;   // a CPU of that node; the starting thread touches its part from there if the system places no pages
};

/// Starts at once and joins in the destructor. The stack is mapped fresh, so that its pages are where the
/// thread first touches them; a recycled stack would stay on the node of its first user. The thread may run
/// wherever the starting thread could before Kith bound it. Throws kith::error if the system refuses.
class thread {
 public:
  thread(std::string name, std::size_t stack_bytes, std::function<void()> body, stack_home = {});
  thread(thread&&) noexcept;
  thread& operator=(thread&&) = delete;
  ~thread();

 private:
  struct start;
  std::unique_ptr<start> start_;  // used by the thread until it is joined
  pthread_t id_;
  void* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
  bool joinable_ = false;
};

/// Lowest address of the calling thread's stack.
std::uintptr_t stack_bottom() noexcept;

}  // namespace kith::native
