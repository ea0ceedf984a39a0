// Tasks with results.
#pragma once

#include <kith/task.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>

namespace kith {

class runtime;
template <class R>
class future;

namespace detail {

/// Cancels the running task's children: they and their descendants do not start any more.
void cancel_children() noexcept;

/// A task that was made, and the number of its runtime.
struct made_task {
  task_ref task;
  std::uint64_t runtime = 0;
};

/// Something that becomes true once and can be waited for, by workers (which run tasks meanwhile) and by other
/// threads (which sleep). It must outlive the call of complete(). A waiter may return before that call does, so
/// the two must share ownership.
class completion {
 public:
  bool done() const noexcept { return word_.load(std::memory_order_acquire) == 1; }
  /// `by` is the task that completes it, if known.
  void wait(made_task by = {});
  /// Returns whether it is done. Returns after `seconds` at the latest; a worker first finishes the task that
  /// it then runs.
  bool wait_at_most(double seconds, made_task by = {});
  void complete() noexcept;

 private:
  std::atomic<std::uint32_t> word_{0};  // 1: done; the only transition is 0 -> 1
  std::atomic<std::uint32_t> sleeping_{0};
};

template <class R>
struct result_of {
  using stored = std::conditional_t<std::is_void_v<R>, bool, R>;
  completion ended;
  std::optional<stored> value;
  std::exception_ptr failure;
};

/// Completes a result when it is destroyed.
template <class R>
struct settled_at_end {
  std::shared_ptr<result_of<R>> result;

  explicit settled_at_end(std::shared_ptr<result_of<R>> r) noexcept : result(std::move(r)) {}
  settled_at_end(settled_at_end&&) noexcept = default;
  ~settled_at_end() {
    if (result) result->ended.complete();
  }
};

/// The task's side of a future, and the task's closure. It stores what the function returns, and completes the
/// future when the closure is destroyed, that is, when the task has ended.
template <class R, class F>
class promise {
 public:
  promise(std::shared_ptr<result_of<R>> r, F f) : end_(std::move(r)), f_(std::move(f)) {}
  promise(promise&&) noexcept = default;
  ~promise() {
    if (end_.result && !ran_)
      end_.result->failure =
          std::make_exception_ptr(error("the task was cancelled before it started", error_kind::cancelled));
  }

  void operator()() noexcept {
    ran_ = true;
    result_of<R>& result = *end_.result;
    try {
      if constexpr (std::is_void_v<R>) {
        f_();
        result.value.emplace(true);
      } else {
        result.value.emplace(f_());
      }
    } catch (...) {
      result.failure = std::current_exception();
      cancel_children();
    }
  }
  /// A child failed after the body had ended. Returns false if no future is left to take the exception.
  bool take_late_failure() noexcept {
    if (end_.result.use_count() == 1) return false;
    if (!end_.result->failure) end_.result->failure = std::current_exception();
    return true;
  }

 private:
  settled_at_end<R> end_;  // destroyed after f_: the captures are gone when the future is ready
  F f_;
  bool ran_ = false;
};

/// The place where tasks are created, and the right to create there: as children of the running task, or from
/// outside, one thread at a time.
class creation {
 public:
  /// Creates in this runtime: as children of the running task if that belongs to the runtime, else from outside.
  /// 0 means the runtime of the running task. Throws kith::error if the runtime has ended, or there is no running
  /// task.
  explicit creation(std::uint64_t runtime = 0);
  /// Creates from outside.
  explicit creation(runtime&);
  ~creation();
  creation(const creation&) = delete;
  creation& operator=(const creation&) = delete;

  template <class F, class... Args>
  made_task make(F&& closure, const Args&... args) {
    return {create(*scope_, std::forward<F>(closure), args...), runtime_};
  }

 private:
  scope* scope_;
  std::uint64_t runtime_;
  bool outside_;
};

/// What the library, but no user, may do with futures.
struct future_internals {
  template <class R>
  static future<R> make(std::shared_ptr<result_of<R>> result, made_task made) noexcept {
    return future<R>(std::move(result), made);
  }
  /// The task behind a future; no task if the future was moved from or taken.
  template <class R>
  static made_task made(const future<R>& f) noexcept {
    return f.valid() ? made_task{f.task_, f.runtime_} : made_task{};
  }
  /// The value (nothing for void), or the exception. REQUIRES: it is ready.
  template <class R>
  static decltype(auto) settled(const future<R>& f) {
    if (f.result_->failure) std::rethrow_exception(f.result_->failure);
    if constexpr (!std::is_void_v<R>) return static_cast<const R&>(*f.result_->value);
  }
  template <class R>
  static void expect_task(const future<R>& f, const char* who) {
    if (!f.valid())
      throw error(std::string(who) + ": no task behind the future (it was moved from, taken, or never set)");
  }
};

/// Makes a task that completes a future; `make` creates the task from a closure.
template <class F, class Make, class... Args>
auto create_with_result(F&& f, Make&& make, const Args&... args) {
  auto bound = bind_accesses(std::forward<F>(f), args...);
  using R = std::decay_t<std::invoke_result_t<decltype(bound)&>>;
  auto result = std::make_shared<result_of<R>>();
  const made_task made = make(promise<R, decltype(bound)>(result, std::move(bound)));
  return future_internals::make<R>(std::move(result), made);
}

/// The values of a future of futures (when_all), as a tuple of references; void ones have none.
template <class R>
std::tuple<const R&> value_of(const future<R>& f) {
  return {future_internals::settled(f)};
}
inline std::tuple<> value_of(const future<void>&) { return {}; }
template <class... R>
auto values_of(const std::tuple<future<R>...>& all) {
  return std::apply([](const auto&... f) { return std::tuple_cat(value_of(f)...); }, all);
}
template <class F, class Values>
inline constexpr bool takes_values = false;
template <class F, class... V>
inline constexpr bool takes_values<F, std::tuple<V...>> = std::is_invocable_v<F&, V...>;

/// What then() calls its function with.
enum class passed : std::uint8_t { value, values, nothing, itself, impossible };
template <class F, class R>
constexpr passed passed_to() {
  if constexpr (std::is_invocable_v<F&, std::add_lvalue_reference_t<const R>>) return passed::value;
  if constexpr (requires(const R& r) { values_of(r); }) {
    if constexpr (takes_values<F, decltype(values_of(std::declval<const R&>()))>) return passed::values;
  }
  if constexpr (std::is_invocable_v<F&>) return passed::nothing;
  if constexpr (std::is_invocable_v<F&, future<R>>) return passed::itself;
  return passed::impossible;
}

/// The closure of a task that then() makes.
template <class R, class F>
struct continuation {
  future<R> before;
  F f;

  decltype(auto) operator()() {
    constexpr passed what = passed_to<F, R>();
    if constexpr (what == passed::itself) {
      return std::invoke(f, std::move(before));
    } else if constexpr (what == passed::value) {
      return std::invoke(f, future_internals::settled(before));
    } else if constexpr (what == passed::values) {
      return std::apply(f, values_of(future_internals::settled(before)));
    } else {
      future_internals::settled(before);
      return std::invoke(f);
    }
  }
};

/// As is_task_call, for then().
template <class F, class R>
struct follower_check {
  static constexpr bool value = passed_to<std::decay_t<F>, R>() != passed::impossible;
  static_assert(value,
                "argument 1 of then cannot be called with the future's value; write a parameter const T& for a "
                "future<T> (none for void), or kith::future<T> to be called where the task failed, too");
};
template <class R, class F, class... Args>
constexpr bool is_then_call() {
  if constexpr (!may_declare<F, Args...>()) {
    return false;
  } else {
    return follower_check<F, R>::value;
  }
}

}  // namespace detail

/// The result of a task. Any thread may ask for it; a task that waits for it runs other tasks meanwhile. It is
/// ready when the task has ended, that is, when all its children have ended and its captures are destroyed. Only
/// `get` and `take` throw the task's exception. They also throw the first exception of a child that the task did
/// not wait for; if no future is left when the task ends, that exception is thrown where the task is waited for.
/// Copies refer to the same result.
template <class R>
class future {
 public:
  future() = default;

  bool valid() const noexcept { return result_ != nullptr; }
  /// The task behind it, to order others `after` it.
  task_ref task() const noexcept { return task_; }
  bool ready() const noexcept { return result_ && result_->ended.done(); }
  /// Waits until it is ready. In a task, throws `error` if no stack is left for the tasks that should run
  /// meanwhile (runtime_options::stacks); the task's children that have not started are then cancelled. The same
  /// holds for get(), take(), wait_for() and wait_until().
  void wait() const {
    detail::future_internals::expect_task(*this, "future::wait()");
    result_->ended.wait({task_, runtime_});
  }
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
      if (wait_for(end - Clock::now())) return true;
      if (Clock::now() >= end) return false;
    }
  }
  /// Returns the value or throws the task's exception. The value stays in place as long as one of its futures
  /// lives.
  decltype(auto) get() const {
    wait();
    return detail::future_internals::settled(*this);
  }
  /// As get(), but moves the value out: for values that cannot be copied. Afterwards this future is not valid,
  /// and its copies hold a moved-from value.
  R take()
    requires(!std::is_void_v<R>)
  {
    wait();
    const std::shared_ptr<detail::result_of<R>> held = std::move(result_);
    if (held->failure) std::rethrow_exception(held->failure);
    return std::move(*held->value);
  }

  /// Makes a task that starts when this future's task has ended; returns a future for what `f` returns. No thread
  /// waits: the new task has an edge from the earlier one. `f` is called with the value (const R&; for futures of
  /// when_all: the value of each), or without arguments if it takes none. If the earlier task failed or was
  /// cancelled, `f` is not called and the new future gets the exception; but an `f` that takes a future<R> is
  /// always called. `args` are as for spawn(), but `f` gets no parameters for accesses.
  ///
  /// Inside a task of the same runtime the new task is a child of the running one, as with async(); elsewhere it
  /// is created as by runtime::submit(). Throws `error` if no task is behind the future, or its runtime has
  /// ended.
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
