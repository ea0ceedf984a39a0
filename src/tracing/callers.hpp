// Where in the program something happens: the functions that run, as the callbacks of instrumented code tell, or as
// they are found on the stack where a library that is not instrumented was called.
#pragma once

#include "base/rng.hpp"

#include <cstddef>
#include <cstdint>

extern "C" const char __executable_start, etext;  // of the linker: the ends of the program's code

namespace kith::tracing {

/// Where the code at an address is in the program; 0: it is in a library.
inline std::uintptr_t offset_in_program(std::uintptr_t pc) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(&__executable_start);
  return pc - begin < reinterpret_cast<std::uintptr_t>(&etext) - begin ? pc - begin : 0;
}

/// The return addresses of the running functions.
class call_stack {
 public:
  void enter(std::uintptr_t return_address) noexcept {
    const std::size_t here = depth_++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);  // a signal handler enters above
    if (here < most) calls_[here] = return_address;
  }
  void leave() noexcept {
    if (depth_ != 0) --depth_;
  }
  void clear() noexcept { depth_ = 0; }
  /// The caller of the innermost function; 0 if it is not known.
  std::uintptr_t caller() const noexcept { return depth_ == 0 || depth_ > most ? 0 : calls_[depth_ - 1]; }
  /// A number for the running functions: the same in every run, wherever the program is loaded.
  std::uint64_t hash() const noexcept {
    std::uint64_t h = 0;
    for (std::size_t i = 0; i < depth_ && i < most; ++i) h = mix(h ^ offset_in_program(calls_[i]));
    return h;
  }

 private:
  static constexpr std::size_t most = 256;
  std::size_t depth_ = 0;
  std::uintptr_t calls_[most] = {};
};

/// The functions that the calling thread is in, outside tasks. It may have too many after exceptions and switches
/// of stacks.
inline constinit thread_local call_stack calls_outside [[gnu::tls_model("initial-exec")]];

/// A number for the calling thread, by where its creator made it: the same in every run. 0: the first thread.
inline constinit thread_local std::uint64_t thread_number [[gnu::tls_model("initial-exec")]] = 0;

/// The return address in the program below the frame that returns to `pc`, which is in a library; 0 if it is not found.
/// An interposed function calls it. Cost: some microseconds.
std::uintptr_t caller_in_program(std::uintptr_t pc) noexcept;

}  // namespace kith::tracing
