// A thread with a stack of its own.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace kith::native {

/// Where the pages of a thread's stack are to be. The starting thread is the first to touch some of them (thread control
/// block, thread-local data): those go with the others.
struct stack_home {
  int node = -1;  // by the system's number; -1: where they are first touched
  int cpu = -1;   // of that node: if the system refuses to place pages, the starting thread touches its part from there
};

/// Starts at once, joins in the destructor. The stack is mapped fresh, so that its pages lie where the thread first
/// touches them (recycled stacks stay on the node of their first user). It may run where the starting thread might before
/// Kith bound that. Throws kith::error if the system refuses.
class thread {
 public:
  thread(std::string name, std::size_t stack_bytes, std::function<void()> body, stack_home = {});
  thread(thread&&) noexcept;
  thread& operator=(thread&&) = delete;
  ~thread();

 private:
  struct start;
  std::unique_ptr<start> start_;  // the thread's, until it is joined
  pthread_t id_;
  void* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
  bool joinable_ = false;
};

/// Lowest address of the calling thread's stack.
std::uintptr_t stack_bottom() noexcept;

}  // namespace kith::native
