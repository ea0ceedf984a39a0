// The link between a task and its futures: the shared result, the task's side of it, and the tasks that follow it.
#pragma once

#include <kith/detail/creation.hpp>
#include <kith/error.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kith {

class runtime;
template <class R>
class future;

namespace detail {

/// Cancels the running task's children: they and their descendants do not start after this.
void cancel_children() noexcept;

/// A task that was made, and the number of its runtime.
struct made_task {
  task_ref task;
  std::uint64_t runtime = 0;
};

/// What a worker's wait does where the limit of stacks leaves none for it: throw, or take a stack beyond the limit,
/// because what it waits for needs the waiting stack.
enum class at_stack_limit : std::uint8_t { fail, exceed };

/// Something that becomes true once and can be waited for, by workers (which run tasks meanwhile) and by other
/// threads (which sleep). It must outlive the call of complete(). A waiter may return before that call does, so
/// the two must share ownership.
class completion {
 public:
  bool done() const noexcept { return word_.load(std::memory_order_acquire) == 1; }
  /// `completer` is the task that completes it, if known. Throws kith::error if it fails at the limit of stacks.
  void wait(made_task completer = {}, at_stack_limit limit = at_stack_limit::fail);
  /// Returns whether it is done. Returns after `seconds` at the latest; a worker first finishes the task that it runs
  /// at that time.
  bool wait_at_most(double seconds, made_task completer = {}, at_stack_limit limit = at_stack_limit::fail);
  void complete() noexcept;

 private:
  static constexpr std::uint32_t a_worker = 1, a_thread = 2;
  std::atomic<std::uint32_t> word_{0};     // 1: done; the only transition is 0 -> 1
  std::atomic<std::uint32_t> waiters_{0};  // who has waited: bits of a_worker and a_thread
};

/// Checks the type of a result.
template <class R>
struct result_check {
  static constexpr bool value = std::is_void_v<R> || std::is_move_constructible_v<R>;
  static_assert(value,
                "argument 1 of async (submit, then) returns an object that can be neither copied nor moved; return a "
                "std::unique_ptr to it");
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
  promise(std::shared_ptr<result_of<R>> r, F&& f) : end_(std::move(r)), f_(std::move(f)) {}
  promise(promise&&) = default;  // may throw where F's does, as for a const capture, which is copied
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

/// Where tasks are created, and the right to create there: as children of the running task, or from outside, one thread
/// at a time.
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
    return {detail::create(*scope_, std::forward<F>(closure), args...), runtime_};
  }

 private:
  scope* scope_;
  std::uint64_t runtime_;
  bool outside_;
};

/// Operations on futures that are for the library only.
struct future_internals {
  template <class R>
  static future<R> make(std::shared_ptr<result_of<R>> result, made_task made) noexcept {
    return future<R>(std::move(result), made);
  }
  /// The task of a future; no task if the future was moved from or taken.
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
  auto bound = detail::bind_accesses(std::forward<F>(f), args...);
  using R = std::decay_t<std::invoke_result_t<decltype(bound)&>>;
  if constexpr (result_check<R>::value) {
    auto result = std::make_shared<result_of<R>>();
    const made_task made = make(promise<R, decltype(bound)>(result, std::move(bound)));
    return future_internals::make<R>(std::move(result), made);
  } else {
    return future<std::conditional_t<result_check<R>::value, R, void>>();
  }
}

/// The values of a future of futures (when_all), as a tuple of references; void ones have none.
template <class R>
std::tuple<const R&> value_of(const future<R>& f) {
  return {future_internals::settled(f)};
}
inline std::tuple<> value_of(const future<void>&) { return {}; }
template <class... R>
auto values_of(const std::tuple<future<R>...>& all) {
  return std::apply([](const auto&... f) { return std::tuple_cat(detail::value_of(f)...); }, all);
}
template <class F, class Values>
inline constexpr bool takes_values = false;
template <class F, class... V>
inline constexpr bool takes_values<F, std::tuple<V...>> = std::is_invocable_v<F&, V...>;

/// The argument with which then() calls its function.
enum class passed : std::uint8_t { value, values, nothing, itself, impossible };
template <class F, class R>
constexpr passed passed_to() {
  if constexpr (std::is_invocable_v<F&, std::add_lvalue_reference_t<const R>>) return passed::value;
  if constexpr (requires(const R& r) { detail::values_of(r); }) {
    if constexpr (takes_values<F, decltype(detail::values_of(std::declval<const R&>()))>) return passed::values;
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
    constexpr passed what = detail::passed_to<F, R>();
    if constexpr (what == passed::itself) {
      return std::invoke(f, std::move(before));
    } else if constexpr (what == passed::value) {
      return std::invoke(f, future_internals::settled(before));
    } else if constexpr (what == passed::values) {
      return std::apply(f, detail::values_of(future_internals::settled(before)));
    } else {
      future_internals::settled(before);
      return std::invoke(f);
    }
  }
};

/// As is_task_call, for then().
template <class F, class R>
struct follower_check {
  static constexpr bool value = detail::passed_to<std::decay_t<F>, R>() != passed::impossible;
  static_assert(value,
                "argument 1 of then cannot be called with the future's value; write a parameter const T& for a "
                "future<T> (none for void), or kith::future<T> to be called where the task failed, too");
};
template <class R, class F, class... Args>
constexpr bool is_then_call() {
  if constexpr (!detail::may_declare<F, Args...>()) {
    return false;
  } else {
    return follower_check<F, R>::value;
  }
}

}  // namespace detail

}  // namespace kith
