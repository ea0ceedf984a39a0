// Tasks with results.
#pragma once

#include <kith/detail/lifetimebound.hpp>
#include <kith/detail/promise.hpp>
#include <kith/task.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace kith {

/// The result of a task. Any thread may ask for it; a task that waits for it runs other tasks meanwhile. It is
/// ready when the task has ended, that is, when all its children have ended and its captures are destroyed. Only
/// `get` and `take` throw the task's exception. They also throw the first exception of a child that the task did
/// not wait for; if no future is left when the task ends, that exception is thrown where the task is waited for.
/// Copies refer to the same result.
template <class R>
class future {
 public:
  /// A future without a task: every call but valid(), ready() and task() throws `error`.
  future() = default;

  /// Whether it belongs to a task.
  bool valid() const noexcept { return result_ != nullptr; }
  /// The task, to order others `after` it.
  task_ref task() const noexcept { return task_; }
  /// Whether the task has ended, so that get() returns at once. False without a task.
  bool ready() const noexcept { return result_ && result_->ended.done(); }
  /// Waits until it is ready. In a task, throws `error` if no stack is left for the tasks that should run
  /// meanwhile (runtime_options::stacks); the task's children that have not started are then cancelled. The same
  /// holds for get(), take(), wait_for() and wait_until().
  void wait() const { wait_for_end("future::wait()"); }
  /// Waits for `most` at most; returns true if it is ready. A thread that runs no task returns on time. A task may
  /// return later: its worker runs other tasks meanwhile, and the one that runs at that moment must first end or wait.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& most) const {
    detail::future_internals::expect_task(*this, "future::wait_for()");
    return result_->ended.wait_at_most(std::chrono::duration<double>(most).count(), {task_, runtime_});
  }
  /// As wait_for(), until that moment at most.
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& end) const {
    for (;;) {  // a clock that is not steady may be set back
      const auto now = Clock::now();
      if (end <= now) return wait_for(Duration::zero());  // the difference may overflow
      if (wait_for(end - now)) return true;
      if (Clock::now() >= end) return false;
    }
  }
  /// Returns the value or throws the task's exception. The value stays in place as long as one of its futures lives: do
  /// not keep the reference that a temporary future gives, as in `for (auto& x : async(f).get())`, but the future, or
  /// the value by take(). Clang warns where that is in one expression, even if another future keeps the value.
  std::conditional_t<std::is_void_v<R>, void, std::add_lvalue_reference_t<const R>> get() const KITH_LIFETIMEBOUND {
    wait_for_end("future::get()");
    return detail::future_internals::settled(*this);
  }
  /// As get(), but moves the value out: for values that cannot be copied. Afterwards this future is not valid,
  /// and its copies hold a moved-from value.
  R take()
    requires(!std::is_void_v<R>)
  {
    wait_for_end("future::take()");
    const std::shared_ptr<detail::result_of<R>> held = std::move(result_);
    if (held->failure) std::rethrow_exception(held->failure);
    return std::move(*held->value);
  }

  /// Makes a task that starts when this future's task has ended; returns a future for what `f` returns. No thread
  /// waits: the new task has an edge from the earlier one. `f` is called with the value (const R&; for futures of
  /// when_all: the value of each), or without arguments if it takes none. If the earlier task failed or was cancelled,
  /// `f` is not called and the new future gets the exception; but an `f` that takes a future<R> is always called.
  /// `args` are as for spawn(), but `f` gets no parameters for accesses.
  ///
  /// Inside a task of the same runtime the new task is a child of the running one, as with async(); elsewhere it is
  /// created as by runtime::submit(). Throws `error` if the future has no task, or its runtime has ended.
  template <class F, class... Args>
  [[nodiscard]] auto then(F&& f, const Args&... args) const {
    if constexpr (detail::is_then_call<R, F, Args...>()) {
      detail::future_internals::expect_task(*this, "future::then()");
      return detail::create_with_result(
          detail::continuation<R, std::decay_t<F>>{*this, std::forward<F>(f)}, [&](auto&& closure) {
            return detail::creation(runtime_).make(std::forward<decltype(closure)>(closure), after{task_}, args...);
          });
    } else {
      return future<void>();
    }
  }

 private:
  friend struct detail::future_internals;
  void wait_for_end(const char* who) const {
    detail::future_internals::expect_task(*this, who);
    result_->ended.wait({task_, runtime_});
  }
  future(std::shared_ptr<detail::result_of<R>> result, detail::made_task made) noexcept
      : result_(std::move(result)), task_(made.task), runtime_(made.runtime) {}

  std::shared_ptr<detail::result_of<R>> result_;
  task_ref task_;
  std::uint64_t runtime_ = 0;
};

/// As spawn(), but returns a future for what `f` returns. The future is ready when the task has ended.
template <class F, class... Args>
[[nodiscard]] auto async(F&& f, const Args&... args) {
  if constexpr (detail::is_task_call<F, Args...>()) {
    return detail::create_with_result(
        std::forward<F>(f),
        [&](auto&& closure) { return detail::creation().make(std::forward<decltype(closure)>(closure), args...); },
        args...);
  } else {
    return future<void>();
  }
}

}  // namespace kith
