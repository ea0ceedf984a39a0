// Coroutines that fork: co_await instead of calls of join(), and no worker that waits.
#pragma once

#include <kith/detail/coroutine_awaiters.hpp>
#include <kith/detail/refused_awaiter.hpp>
#include <kith/error.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace kith {

/// The return type of functions whose bodies are coroutines that fork. In these, `co_await other()` runs another such
/// function as a call does, and `co_await both(f, g)` runs two of them, perhaps side by side. A coroutine starts when
/// it is awaited, or given to sync_wait(), and only once. It is a part of the task that called sync_wait().
///
/// Its frame is not on the heap but on a stack of frames, as a rule: creating and ending it moves a pointer. After
/// a co_await the coroutine may be on another worker. A recursion of coroutines needs as much of a worker's stack
/// (runtime_options::stack_bytes) as one of calls.
///
/// A coroutine may do what a half of join() may: block, wait for futures, create tasks, call join(). Tasks that it
/// creates are children of the running task; kith::wait() in it waits at least for those that it has created since its
/// last co_await. It cannot co_await anything else: `f.get()` waits for a future, and its worker runs other work
/// meanwhile. A kith::group and kith::pending_tasks belong to a worker as well: end their lives before the next
/// co_await, or make them around sync_wait(). In the body of a captured graph, coroutines run as plain calls.
///
/// GCC 12 evaluates both branches of `a ? co_await f() : b`: write `if`. It also destroys some temporaries of a
/// statement with co_await twice, such as lambdas whose captures have destructors: name them before. Local variables
/// that need more than 16 bytes of alignment may be misaligned in coroutines (GCC 12, Clang 19): allocate them.
template <class T = void>
class [[nodiscard]] coroutine {
 public:
  using coroutine_of_kith = T;
  class promise_type final : public detail::promise_of<T> {
   public:
    coroutine get_return_object() noexcept { return coroutine(this); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    /// The frame is freed at once, by the strand that runs it, so that it is the newest of its stack.
    std::suspend_never final_suspend() const noexcept { return {}; }
    void unhandled_exception() noexcept { this->to->fail(); }
    template <class U>
    detail::one_awaiter<U> await_transform(coroutine<U>&& inner) const {
      return detail::one_awaiter<U>(inner.release());
    }
    template <class F, class G>
    detail::both_awaiter<F, G> await_transform(detail::both_call<F, G>&& call) const noexcept {
      return detail::both_awaiter<F, G>(call);
    }
    template <class A>
    detail::refused_awaiter await_transform(const A& /*other*/) const noexcept {
      static_assert(
          detail::never_awaited<A>,
          "a kith::coroutine can co_await only other ones and kith::both(); write f.get() to wait for a future f");
      return {};
    }
  };

  coroutine(coroutine&& other) noexcept : promise_(std::exchange(other.promise_, nullptr)) {}
  coroutine& operator=(coroutine&&) = delete;
  ~coroutine() {
    if (promise_ != nullptr) std::coroutine_handle<promise_type>::from_promise(*promise_).destroy();
  }

  /// Throws what the coroutine throws, and `error` if it was moved from.
  detail::one_awaiter<T> operator co_await() && { return detail::one_awaiter<T>(release()); }

  /// Gives the coroutine to the caller, which must start or destroy it.
  [[gnu::always_inline]] promise_type* release() {
    if (promise_ == nullptr) [[unlikely]]
      detail::refuse_to_run_again();
    return std::exchange(promise_, nullptr);
  }

 private:
  explicit coroutine(promise_type* promise) noexcept : promise_(promise) {}

  promise_type* promise_;
};

/// `co_await kith::both(f, g)` in a kith::coroutine: calls f() and g(), which return coroutines, runs these, perhaps
/// side by side, and continues when both have ended: with a std::pair of their results, or nothing if both return
/// nothing (std::monostate stands for nothing beside a result). The worker runs the coroutine of `f`; meanwhile an idle
/// worker may continue this one: it calls `g`, and runs its coroutine. The worker that ends last continues with what
/// follows, so no worker waits. If no other worker takes it, the same worker runs `g` after `f`. No task is created.
///
/// Both run to their ends, also if one throws or the task is cancelled. Throws the exception of `f`, or else that of
/// `g`. Neither may need the other one to run at the same time, or to have run. On a thread that runs no task, and in a
/// runtime that records or follows a schedule (there `g` is a task), they are run as by join().
template <class F, class G>
[[nodiscard]] auto both(F&& f, G&& g) {
  if constexpr (detail::both_check<F, G>::value) return detail::both_call<F, G>{f, g};
}

/// Runs a coroutine, and returns its value or throws its exception when it has ended. May be called anywhere, also in a
/// coroutine. In a task, the worker that calls it begins, and others may continue parts of it; a worker whose part has
/// ended runs other work until all has ended. On a thread that runs no task, that thread runs all of it. Throws
/// std::bad_alloc if there is no memory to begin, and `error` if the coroutine was moved from.
template <class T>
T sync_wait(coroutine<T>&& what) {
  detail::coroutine_result<T> result;
  auto* const inner = what.release();
  inner->to = &result;
  detail::coroutine_root().run(*inner);
  if constexpr (std::is_void_v<T>) {
    result.take();
  } else {
    return result.take();
  }
}
/// Rejects an argument that is no coroutine, or is an lvalue, at compile time, with a message that says what to
/// write.
template <class F>
  requires(!detail::is_coroutine<F>)
auto sync_wait(F&&) {
  static_assert(detail::is_coroutine<std::remove_cvref_t<F>>,
                "argument 1 of sync_wait is no kith::coroutine; write kith::sync_wait(f()) with a function f that "
                "returns one");
  static_assert(!detail::is_coroutine<std::remove_cvref_t<F>>,
                "argument 1 of sync_wait is a coroutine that has a name; write kith::sync_wait(std::move(c))");
}

}  // namespace kith
