// Coroutines that fork: co_await in place of calls of join(), and no worker that waits.
#pragma once

#include <kith/detail/continuation.hpp>
#include <kith/detail/destroyed_twice.hpp>
#include <kith/error.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace kith {

template <class T>
class coroutine;

namespace detail {

template <class F>
inline constexpr bool makes_coroutine = false;
template <class F>
  requires std::is_invocable_v<F&>
inline constexpr bool makes_coroutine<F> = requires { typename std::invoke_result_t<F&>::coroutine_of_kith; };

template <class F>
using returned_by = typename std::invoke_result_t<F&>::coroutine_of_kith;

template <class T>
class promise_of : public coroutine_promise {
 public:
  template <class V = T>
    requires std::is_convertible_v<V&&, T>
  void return_value(V&& value) {
    to->succeed(std::forward<V>(value));
  }
  coroutine_result<T>* to;
};
template <>
class promise_of<void> : public coroutine_promise {
 public:
  void return_void() noexcept { to->succeed(); }
  coroutine_result<void>* to;
};

template <class A>
inline constexpr bool never_awaited = false;

template <class F, class G>
class both_awaiter;
template <class T>
class one_awaiter;

[[noreturn, gnu::cold]] void refuse_to_run_again();

/// What both() returns. It keeps the functions while the coroutines run, because these may be lambdas themselves.
template <class F, class G>
struct both_call {
  kept_function<F> first;
  kept_function<G> second;
};

}  // namespace detail

/// What a function returns whose body is a coroutine that forks. In it, `co_await other()` runs another such function
/// as a call does, and `co_await both(f, g)` runs two of them, perhaps side by side. It starts when it is awaited, or
/// given to sync_wait(), and only once. It is a part of the task that called sync_wait().
///
/// Its frame is not on the heap but on a stack of frames, as a rule: creating and ending it moves a pointer. After
/// a co_await the coroutine may be on another worker. A recursion of coroutines needs as much of a worker's stack
/// (runtime_options::stack_bytes) as one of calls.
///
/// A coroutine may do what a half of join() may: block, wait for futures, create tasks, call join(). Tasks that it
/// creates are children of the running task; kith::wait() in it waits at least for those that it has created since its
/// last co_await. It cannot co_await anything else: `f.get()` waits for a future, and its worker runs other things
/// meanwhile.
///
/// GCC 12 makes the coroutines of both sides of `a ? co_await f() : b`, and runs them: write `if`. It also destroys
/// some temporaries of a statement with co_await twice, such as lambdas whose captures have destructors: name them
/// before.
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
    std::suspend_never await_transform(const A& /*other*/) const noexcept {
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

  /// Leaves the coroutine to the caller, who starts or destroys it.
  [[gnu::always_inline]] promise_type* release() {
    if (promise_ == nullptr) [[unlikely]]
      detail::refuse_to_run_again();
    return std::exchange(promise_, nullptr);
  }

 private:
  explicit coroutine(promise_type* promise) noexcept : promise_(promise) {}

  promise_type* promise_;
};

namespace detail {

template <class P>
concept forking_promise = std::is_base_of_v<coroutine_promise, P>;

template <class T>
class one_awaiter : awaiting {
 public:
  explicit one_awaiter(typename coroutine<T>::promise_type* inner) noexcept : inner_(inner) {}

  bool await_ready() const noexcept { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> outer) noexcept {
    static_assert(forking_promise<P>, "a kith::coroutine is awaited by another one; elsewhere, call kith::sync_wait()");
    suspended = &outer.promise();
    fork_lane* const lane = this_lane;
    inner_->awaiter = this;
    inner_->to = &result_;
    inner_->start();
    return lane->unwinding;
  }
  T await_resume() {
    if constexpr (std::is_void_v<T>) {
      result_.take();
    } else {
      return result_.take();
    }
  }

 private:
  typename coroutine<T>::promise_type* inner_;
  coroutine_result<T> result_;
};

template <class F, class G>
using both_result = std::conditional_t<
    std::is_void_v<returned_by<F>> && std::is_void_v<returned_by<G>>, void,
    std::pair<typename coroutine_result<returned_by<F>>::given, typename coroutine_result<returned_by<G>>::given>>;

template <class F, class G>
class both_awaiter final : coroutine_continuation {
 public:
  explicit both_awaiter(both_call<F, G>& call) noexcept : coroutine_continuation(&start_second), call_(call) {}

  bool await_ready() const noexcept { return false; }
  template <class P>
  bool await_suspend(std::coroutine_handle<P> outer) noexcept {
    static_assert(forking_promise<P>, "kith::both() is awaited by a kith::coroutine; elsewhere, call kith::join()");
    suspended = &outer.promise();
    fork_lane* lane = this_lane;
    split_deque<half>::place at = lane->halves.top();
    if (!lane->halves.push(at, *this)) [[unlikely]] {
      if (const join_by how = offer_rest(*this); how != join_by::lane) return run_here(how);
      at = lane->halves.top() - 1;
    }
    start(call_.first, first_);
    if (!lane->halves.pop(at) && !goes_on_here(*lane, *this, at)) [[unlikely]]
      return true;
    start(call_.second, second_);
    return lane->unwinding;
  }
  both_result<F, G> await_resume() {
    if (first_.has_failed() || second_.has_failed()) [[unlikely]]
      fail();
    if constexpr (std::is_void_v<both_result<F, G>>) {
      return;
    } else if constexpr (std::is_nothrow_move_constructible_v<typename coroutine_result<returned_by<F>>::given>) {
      return {first_.take_value(), second_.take_value()};
    } else {
      struct dropped {
        coroutine_result<returned_by<G>>* left;
        ~dropped() {
          if (left != nullptr) left->drop();
        }
      } if_first_throws{&second_};
      typename coroutine_result<returned_by<F>>::given first = first_.take_value();
      return {std::move(first), std::exchange(if_first_throws.left, nullptr)->take_value()};
    }
  }

 private:
  template <class H, class R>
  [[gnu::always_inline]] void start(H& h, coroutine_result<R>& result) noexcept {
    coroutine_promise* started = nullptr;
    try {
      auto* const made = call_half(h).release();
      made->to = &result;
      started = made;
    } catch (...) {
      return result.fail();
    }
    started->awaiter = this;
    started->start();
  }
  static void start_second(coroutine_continuation& c) noexcept {
    both_awaiter& self = static_cast<both_awaiter&>(c);
    self.start(self.call_.second, self.second_);
  }
  [[gnu::noinline, gnu::cold]] bool run_here(join_by how) noexcept {
    if (how == join_by::tasks) {
      auto f = [this] { start(call_.first, first_); };
      auto g = [this] { start(call_.second, second_); };
      half_of<decltype(f)&> first(f);
      half_of<decltype(g)&> second(g);
      join_as_tasks(first, second);
    } else {
      start(call_.first, first_);
      start(call_.second, second_);
    }
    return false;
  }
  [[gnu::noinline, gnu::cold]] void fail() {
    if (first_.has_failed()) {
      second_.drop();
      first_.take();
    } else {
      first_.drop();
      second_.take();
    }
  }

  both_call<F, G>& call_;
  coroutine_result<returned_by<F>> first_;
  coroutine_result<returned_by<G>> second_;
};

template <class F, class G>
struct both_check {
  static constexpr bool first = makes_coroutine<F>;
  static constexpr bool second = makes_coroutine<G>;
  static constexpr bool destroyed_once = !is_destroyed_twice<F> && !is_destroyed_twice<G>;
  static_assert(first, "argument 1 of both is no function that returns a kith::coroutine; write [n] { return f(n); }");
  static_assert(!first || second,
                "argument 2 of both is no function that returns a kith::coroutine; write [n] { return f(n); }");
  static_assert(!first || !second || destroyed_once,
                "GCC 12 destroys this temporary twice; name the lambda first: auto f = [...] {...}; co_await "
                "kith::both(f, ...)");
  static constexpr bool value = first && second && destroyed_once;
};

}  // namespace detail

/// `co_await kith::both(f, g)` in a kith::coroutine: calls f() and g(), which return coroutines, runs these, perhaps
/// side by side, and goes on when both have ended: with a std::pair of their results, or nothing if both return nothing
/// (std::monostate stands for nothing beside a result). The worker runs the coroutine of `f`; meanwhile an idle worker
/// may go on with this one: it calls `g`, and runs its coroutine. Who ends last goes on with what follows; so no worker
/// waits. If none takes it, the same worker runs `g` after `f`. No task is created.
///
/// Both run to their ends, also if one throws or the task is cancelled. Throws the exception of `f`, or else that of
/// `g`. Neither may need the other one to run at the same time, or to have run. On a thread that runs no task, and in a
/// runtime that records or follows a schedule (there `g` is a task), they are run as by join().
template <class F, class G>
[[nodiscard]] auto both(F&& f, G&& g) {
  if constexpr (detail::both_check<F, G>::value) return detail::both_call<F, G>{f, g};
}

/// Runs a coroutine, and returns its value or throws its exception when it has ended. May be called anywhere, also in
/// a coroutine. In a task, the worker that calls it begins, and others may go on with parts of it; a worker whose part
/// has ended runs other things until all has. On a thread that runs no task, that thread runs all of it. Throws
/// std::bad_alloc if there is no memory to begin, and `error` if the coroutine was moved from.
template <class T>
T sync_wait(coroutine<T> what) {
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

}  // namespace kith
