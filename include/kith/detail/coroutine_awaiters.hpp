// The awaiters of coroutines that fork, for another coroutine and for both(); and their promise.
#pragma once

#include <kith/detail/continuation.hpp>
#include <kith/detail/destroyed_twice.hpp>

#include <coroutine>
#include <type_traits>
#include <utility>

namespace kith {

template <class T>
class coroutine;

}  // namespace kith

namespace kith::detail {

template <class F>
inline constexpr bool makes_coroutine = false;
template <class F>
  requires std::is_invocable_v<F&>
inline constexpr bool makes_coroutine<F> = requires { typename std::invoke_result_t<F&>::coroutine_of_kith; };

template <class T>
inline constexpr bool is_coroutine = false;
template <class T>
inline constexpr bool is_coroutine<coroutine<T>> = true;

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

[[noreturn, gnu::cold]] void refuse_to_run_again();

/// The result of both(). It keeps the functions while the coroutines run, because these may be lambdas themselves.
template <class F, class G>
struct both_call {
  kept_function<F> first;
  kept_function<G> second;
};

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
    split_deque<half>::slot_pointer at = lane->halves.top();
    if (!lane->halves.push(at, *this)) [[unlikely]] {
      if (const join_by how = detail::offer_rest(*this); how != join_by::lane) return run_here(how);
      at = lane->halves.top() - 1;
    }
    start(call_.first, first_);
    if (!lane->halves.pop(at) && !detail::take_back_continuation(*lane, *this, at)) [[unlikely]]
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
      auto* const made = detail::call_half(h).release();
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
      detail::join_as_tasks(first, second);
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

}  // namespace kith::detail
