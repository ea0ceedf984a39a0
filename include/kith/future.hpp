// Tasks with results.
#pragma once

#include <kith/task.hpp>

#include <atomic>
#include <exception>
#include <memory>
#include <optional>

namespace kith {

namespace detail {

/// What the running task has created, and what is below that, does not start any more.
void cancel_children() noexcept;

/// Something that becomes true once and can be waited for, by workers (which run tasks meanwhile) and by
/// other threads (which sleep). It must outlive the call of complete(), which the waiter may overtake: share it.
class completion {
 public:
  bool done() const noexcept { return word_.load(std::memory_order_acquire) == 1; }
  /// `by`: the task that completes it, if it is known.
  void wait(task_ref by = {});
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

/// The task's side of a future, and the task's closure: what it returns is kept, and told when the task has ended, that is
/// when the closure is destroyed.
template <class R, class F>
class promise {
 public:
  promise(std::shared_ptr<result_of<R>> r, F f) : result_(std::move(r)), f_(std::move(f)) {}
  promise(promise&&) noexcept = default;
  ~promise() {
    if (!result_) return;
    if (!ran_) result_->failure = std::make_exception_ptr(error("the task was cancelled before it started"));
    result_->ended.complete();
  }

  void operator()() noexcept {
    ran_ = true;
    try {
      if constexpr (std::is_void_v<R>) {
        f_();
        result_->value.emplace(true);
      } else {
        result_->value.emplace(f_());
      }
    } catch (...) {
      result_->failure = std::current_exception();
      cancel_children();
    }
  }
  /// A child failed after the body had ended. False if nobody is left to be told.
  bool take_late_failure() noexcept {
    if (result_.use_count() == 1) return false;
    if (!result_->failure) result_->failure = std::current_exception();
    return true;
  }

 private:
  std::shared_ptr<result_of<R>> result_;
  F f_;
  bool ran_ = false;
};

}  // namespace detail

/// The result of a task. Movable; `get` may be called from any thread, also from tasks (which run other tasks
/// while they wait). An exception of the task is thrown by `get`, and by `get` alone.
template <class R>
class future {
 public:
  future() = default;
  future(std::shared_ptr<detail::result_of<R>> result, task_ref task) noexcept
      : result_(std::move(result)), task_(task) {}

  bool valid() const noexcept { return result_ != nullptr; }
  /// The task behind it, to order others `after` it.
  task_ref task() const noexcept { return task_; }
  bool ready() const noexcept { return result_ && result_->ended.done(); }
  void wait() const {
    if (!result_) throw error("future: no task behind it (moved from, or never set)");
    result_->ended.wait(task_);
  }
  /// The value, or the task's exception. The value stays where it is, as long as a future of it lives.
  decltype(auto) get() const {
    wait();
    if (result_->failure) std::rethrow_exception(result_->failure);
    if constexpr (!std::is_void_v<R>) return static_cast<const R&>(*result_->value);
  }
  /// As get(), but moves the value out: for values that cannot be copied. The future is not valid afterwards.
  R take()
    requires(!std::is_void_v<R>)
  {
    wait();
    const std::shared_ptr<detail::result_of<R>> held = std::move(result_);
    if (held->failure) std::rethrow_exception(held->failure);
    return std::move(*held->value);
  }

 private:
  std::shared_ptr<detail::result_of<R>> result_;
  task_ref task_;
};

namespace detail {

/// Makes a task that settles a future; `make` creates it from a closure.
template <class F, class Make, class... Args>
auto create_with_result(F&& f, Make&& make, const Args&... args) {
  auto bound = bind_accesses(std::forward<F>(f), args...);
  using R = std::decay_t<std::invoke_result_t<decltype(bound)&>>;
  auto result = std::make_shared<result_of<R>>();
  const task_ref task = make(promise<R, decltype(bound)>(result, std::move(bound)));
  return future<R>(std::move(result), task);
}

}  // namespace detail

/// As spawn(), with a future for what `f` returns.
template <class F, class... Args>
auto async(F&& f, const Args&... args) {
  return detail::create_with_result(
      std::forward<F>(f),
      [&](auto&& closure) {
        return detail::create(detail::current_scope(), {}, std::forward<decltype(closure)>(closure), args...);
      },
      args...);
}

}  // namespace kith
