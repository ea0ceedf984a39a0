// Stacks beside the thread's own: what a waiting worker runs meanwhile stands on another one, so that the wait can go on
// as soon as it may.
//
// A worker leaves a stack (suspended) for a fresh one, or for another one that was left. Stacks never change threads; all
// of it is called by the worker's own thread. Switching is Boost.Context's (its lowest interface: the thread sanitizer's own
// stack of calls would not follow the higher one); the sanitizers are told, and each stack has its own state of
// exceptions. A stack is mapped with a guard page below it; used ones are kept for the next time.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::native {

/// The bounds of a stack, and what the sanitizers know it by.
struct stack_bounds {
  const void* lowest = nullptr;
  std::size_t bytes = 0;
  void* thread_sanitizer = nullptr;
};

struct stack_mapping {
  void* at = nullptr;
  std::size_t bytes = 0;
};

/// A stack that was left. It stands on that stack itself, in the function that left it.
struct suspended_stack {
  boost::context::detail::fcontext_t context = nullptr;
  stack_bounds bounds;
  stack_mapping mapped;    // none: the thread's own stack
  void* shadow = nullptr;  // the address sanitizer's
};

/// The spare stacks of one worker, and the one it runs on.
class stack_switcher {
 public:
  explicit stack_switcher(std::size_t bytes) noexcept : bytes_(bytes) {}
  ~stack_switcher();
  stack_switcher(const stack_switcher&) = delete;
  stack_switcher& operator=(const stack_switcher&) = delete;

  /// Runs on a fresh stack; returns the suspended stack that goes on when it has ended.
  using body = suspended_stack& (*)(void* argument);
  /// Leaves the present stack for a fresh one that runs f(argument). Returns when somebody goes back to `here`. False, and
  /// nothing is done, if the system gives no stack.
  bool leave_for_fresh(suspended_stack& here, body f, void* argument);
  /// Leaves the present stack for one that was left before. Returns when somebody goes back to `here`.
  void leave_for(suspended_stack& here, suspended_stack& to);

  /// The lowest address of the stack that runs, if it is one of these; else 0.
  std::uintptr_t lowest() const noexcept { return reinterpret_cast<std::uintptr_t>(now_.lowest); }

 private:
  using mapping = stack_mapping;
  struct start;
  static void begin(boost::context::detail::transfer_t);
  mapping map() noexcept;
  void keep(mapping) noexcept;
  void depart(suspended_stack& here, const stack_bounds& to) noexcept;
  void arrive(suspended_stack& here, boost::context::detail::fcontext_t from) noexcept;

  std::size_t bytes_;
  std::vector<mapping> spare_;
  stack_bounds now_;                    // of a fresh stack; empty: the thread's own
  mapping now_at_;                      // its memory
  suspended_stack* leaving_ = nullptr;  // whose context comes with the switch; null: a stack that has ended
};

}  // namespace kith::native
