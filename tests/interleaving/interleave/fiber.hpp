// A stack that can be left and entered again, for the threads of an explored program. Used only by the checker.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>
#include <memory>

namespace kith::interleave {

class fiber {
 public:
  static constexpr std::size_t stack_bytes = 128 * 1024;

  fiber() = default;
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  /// The next switch to this fiber calls entry(argument), which must never return.
  void prepare(void (*entry)(void*), void* argument);
  /// Leaves this fiber, which is running, for `to`. Returns when another fiber switches back, or never if `for_good`.
  void switch_to(fiber& to, bool for_good = false);
  /// Must be the first call of entry, with the fiber that was left for it.
  static void entered(fiber& from);

 private:
  static void trampoline(boost::context::detail::transfer_t);

  boost::context::detail::fcontext_t context_ = nullptr;  // where it was left
  fiber* next_ = nullptr;                                 // for which it was left
  std::unique_ptr<std::byte[]> stack_;                    // null: the process's own stack
  const void* bottom_ = nullptr;                          // bounds, for the address sanitizer
  std::size_t size_ = 0;
  void* shadow_ = nullptr;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
};

}  // namespace kith::interleave
