// What co_await gives after a static_assert has refused its operand.
#pragma once

#include <coroutine>

namespace kith::detail {

/// Its result converts to anything, so that the compiler reports no error but that of the static_assert.
struct refused_awaiter {
  struct anything {
    template <class T>
    operator T() const;  // not explicit: for any use of the result
  };
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<> /*awaiting*/) const noexcept {}
  anything await_resume() const noexcept { return {}; }
};

}  // namespace kith::detail
