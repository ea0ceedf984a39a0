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

/// What the running task has created, and what is below that, does not start any more.
void cancel_children() noexcept;

/// A task that was made, and the number of its runtime.
struct made_task {
  task_ref task;
  std::uint64_t runtime = 0;
};

/// Something that becomes true once and can be waited for, by workers (which run tasks meanwhile) and by
/// other threads (which sleep). It must outlive the call of complete(), which the waiter may overtake: share it.
class completion {
 public:
  bool done() const noexcept { return word_.load(std::memory_order_acquire) == 1; }
  /// `by`: the task that completes it, if it is known.
  void wait(made_task by = {});
  /// Whether it is done, at the latest after so many seconds and the end of the task that a worker then runs.
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

/// A result that is completed when this is destroyed.
template <class R>
struct settled_at_end {
  std::shared_ptr<result_of<R>> result;

  explicit settled_at_end(std::shared_ptr<result_of<R>> r) noexcept : result(std::move(r)) {}
  settled_at_end(settled_at_end&&) noexcept = default;
  ~settled_at_end() {
    if (result) result->ended.complete();
  }
};

/// The task's side of a future, and the task's closure: what it returns is kept, and told when the task has ended, that is
/// when the closure is destroyed.
template <class R, class F>
class promise {
 public:
  promise(std::shared_ptr<result_of<R>> r, F f) : end_(std::move(r)), f_(std::move(f)) {}
  promise(promise&&) noexcept = default;
  ~promise() {
    if (end_.result && !ran_)
      end_.result->failure = std::make_exception_ptr(error("the task was cancelled before it started"));
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
  /// A child failed after the body had ended. False if nobody is left to be told.
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

/// Where tasks are created, and the right to: as children of the running task, or, one thread at a time, from outside.
class creation {
 public:
  /// In this runtime: as children of the running task if that is one of its tasks, else from outside. 0 is the runtime of
  /// the running task. Throws kith::error if the runtime has ended, or there is no running task.
  explicit creation(std::uint64_t runtime = 0);
  /// From outside.
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

/// What the library does with futures that users cannot.
struct future_internals {
  template <class R>
  static future<R> make(std::shared_ptr<result_of<R>> result, made_task made) noexcept {
    return future<R>(std::move(result), made);
  }
  /// Of a future that was moved from or taken: no task.
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

/// Makes a task that settles a future; `make` creates it from a closure.
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

/// What a function behind then() is called with.
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

/// What a task runs that follows a future.
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

/// The result of a task, which may be asked for by any thread, also by tasks (which run other tasks while they wait). It is
/// ready when the task has ended, and that is when all its children have ended and its captures are destroyed. An exception
/// of the task is thrown by `get` and `take`, and by them alone. So is the first one of a child that the task did not wait
/// for, unless no future is left when the task ends: then it is thrown where the task is waited for. A handle: copies are of
/// the same result.
template <class R>
class future {
 public:
  future() = default;

  bool valid() const noexcept { return result_ != nullptr; }
  /// The task behind it, to order others `after` it.
  task_ref task() const noexcept { return task_; }
  bool ready() const noexcept { return result_ && result_->ended.done(); }
  /// Waits until it is ready. In a task this throws `error` where no stack is left for the tasks that are to run meanwhile
  /// (runtime_options::stacks); the task's children that have not started are cancelled then. So do get(), take(),
  /// wait_for() and wait_until().
  void wait() const {
    detail::future_internals::expect_task(*this, "future::wait()");
    result_->ended.wait({task_, runtime_});
  }
  /// Waits for so long at most; true if it is ready. A thread that runs no task returns then. A task may come back later:
  /// its worker runs other tasks meanwhile, and the one that it runs at that moment first ends, or waits itself.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& most) const {
    detail::future_internals::expect_task(*this, "future::wait_for()");
    return result_->ended.wait_at_most(std::chrono::duration<double>(most).count(), {task_, runtime_});
  }
  /// Waits until that moment at most, as wait_for().
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& end) const {
    for (;;) {  // a clock that is not steady may be set back meanwhile
      if (wait_for(end - Clock::now())) return true;
      if (Clock::now() >= end) return false;
    }
  }
  /// The value, or the task's exception. The value stays where it is, as long as a future of it lives.
  decltype(auto) get() const {
    wait();
    return detail::future_internals::settled(*this);
  }
  /// As get(), but moves the value out: for values that cannot be copied. This future is not valid afterwards, and copies
  /// of it have a value that was moved from.
  R take()
    requires(!std::is_void_v<R>)
  {
    wait();
    const std::shared_ptr<detail::result_of<R>> held = std::move(result_);
    if (held->failure) std::rethrow_exception(held->failure);
    return std::move(*held->value);
  }

  /// A task that starts when this one's has ended, with a future for what `f` returns. Nothing waits meanwhile: it is a
  /// task with an edge. `f` is called with the value (const R&; for futures of when_all: the value of each), or with
  /// nothing if it takes nothing. If the task before failed or was cancelled, `f` is not called, and the exception is that
  /// of the new future; but an `f` that takes a future<R> is called in any case. `args` as for spawn(); `f` gets no
  /// parameters for accesses.
  ///
  /// In a task of the same runtime the new task is a child of the running one, as with async(); anywhere else it is made
  /// as by runtime::submit(). Throws `error` if no task is behind the future, or its runtime has ended.
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

/// As spawn(), with a future for what `f` returns, which is ready when the task has ended.
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
