// Further stacks of a thread: a waiting worker runs other tasks on another stack, so that the wait can continue
// as soon as possible.
//
// A worker leaves a stack (which is then suspended) for a fresh one, or for one that was left before. Stacks
// never change threads; only the worker's own thread calls these functions. Boost.Context switches stacks,
// through its lowest interface, because the thread sanitizer's call stack would not follow the higher one. The
// sanitizers are told of each switch, and each stack has its own state of exceptions. A stack is mapped with a
// guard page below it; used stacks are kept for reuse.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::native {

/// The stack address above which another task may be nested. `lowest` is the stack's lowest address.
std::uintptr_t nesting_limit(std::uintptr_t lowest) noexcept;

/// The bounds of a stack, and its handle for the thread sanitizer.
struct stack_bounds {
  const void* lowest = nullptr;
  std::size_t bytes = 0;
  void* thread_sanitizer = nullptr;
};

struct stack_mapping {
  void* at = nullptr;
  std::size_t bytes = 0;
};

/// A stack that was left. The object is on that stack itself, in the function that left it.
struct suspended_stack {
  boost::context::detail::fcontext_t context = nullptr;
  stack_bounds bounds;
  stack_mapping mapped;    // null: the thread's own stack
  void* shadow = nullptr;  // the address sanitizer's
};

/// The spare stacks of one worker, and its current one.
class stack_switcher {
 public:
  explicit stack_switcher(std::size_t bytes) noexcept : bytes_(bytes) {}
  ~stack_switcher();
  stack_switcher(const stack_switcher&) = delete;
  stack_switcher& operator=(const stack_switcher&) = delete;

  /// Runs on a fresh stack; returns the suspended stack that continues when it has ended.
  using body = suspended_stack& (*)(void* argument);
  /// Leaves the current stack for a fresh one that runs f(argument). Returns true when the worker goes back to
  /// `here`; returns false at once if the system gives no stack.
  bool leave_for_fresh(suspended_stack& here, body f, void* argument);
  /// Leaves the current stack for one that was left before. Returns when the worker goes back to `here`.
  void leave_for(suspended_stack& here, suspended_stack& to);

  /// The lowest address of the current stack if it is one of these; 0 for the thread's own.
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
  stack_bounds now_;                    // of the current stack; empty: the thread's own
  mapping now_at_;                      // its memory
  suspended_stack* leaving_ = nullptr;  // the stack that this switch leaves; null if it has ended
};

}  // namespace kith::native
