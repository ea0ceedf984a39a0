// What kith::activity is made of.
#pragma once

#include <kith/future.hpp>

#include <coroutine>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace kith {

namespace detail {

/// Runs f(context) as the body of a finish; resumes the coroutine when that has ended. Sets `state` before.
void begin_finish(void* context, void (*f)(void*), std::coroutine_handle<> suspended, std::shared_ptr<void>& state);
/// Throws what the finish throws.
void end_finish(void* state);

template <class F>
inline constexpr bool is_task_future = false;
template <class R>
inline constexpr bool is_task_future<future<R>> = true;

/// The part of a promise that receives the value of co_return.
template <class R>
class coroutine_value {
 public:
  template <class V = R>
    requires std::is_convertible_v<V, R>
  void return_value(V&& value) {
    value_.emplace(std::forward<V>(value));
  }
  R take() { return std::move(*value_); }

 private:
  std::optional<R> value_;
};
template <>
class coroutine_value<void> {
 public:
  void return_void() noexcept {}
  void take() noexcept {}
};

}  // namespace detail

}  // namespace kith
