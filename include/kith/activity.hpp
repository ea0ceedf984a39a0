// Activities that are coroutines: co_await instead of waiting.
//
// ADS, section 4: an activity that waits stalls, and its worker runs others. docs/places.md has an example.
#pragma once

#include <kith/detail/activity_parts.hpp>
#include <kith/detail/destroyed_twice.hpp>
#include <kith/detail/refused_awaiter.hpp>
#include <kith/places.hpp>

#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace kith {

/// The return type of functions whose bodies are coroutines, for at(place).spawn() and async(). In these `co_await`
/// takes a place_future, an async_finish(), or the activity that another such function has returned, which then runs as
/// a part of the caller. Parameters are values; those of type std::span<const T> stay valid until the activity has
/// ended.
///
/// After a co_await an activity continues as a task of its own, perhaps on another worker of the same place.
/// kith::wait() waits for the tasks that were created since the last co_await. Unlike that of other functions, an
/// activity at the caller's own place is not a task of the caller after its first co_await: only the finish() waits for
/// it.
///
/// GCC 12 destroys some temporaries of a statement with co_await twice: lambdas with captures, and aggregates such as
/// `job{v}`, whose members have destructors. Name them before the statement.
template <class R = void>
class [[nodiscard]] activity {
 public:
  class promise_type final : public detail::activity_coroutine, public detail::coroutine_value<R> {
   public:
    activity get_return_object() noexcept { return activity(this); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    /// Continues the coroutine that awaits this one, if any.
    auto final_suspend() const noexcept {
      struct awaiter {
        std::coroutine_handle<> next;

        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> /*ended*/) const noexcept { return next; }
        void await_resume() const noexcept {}
      };
      return awaiter{awaited_by_ ? awaited_by_ : std::noop_coroutine()};
    }
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }

    R take_or_throw() {
      if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
      return this->take();
    }
    std::coroutine_handle<> handle() noexcept override {
      return std::coroutine_handle<promise_type>::from_promise(*this);
    }
    void set_awaited_by(std::coroutine_handle<> outer) noexcept { awaited_by_ = outer; }
    bool was_awaited() const noexcept { return awaited_by_ != nullptr; }

   private:
    std::coroutine_handle<> awaited_by_;
    std::exception_ptr failure_;
  };

  activity(activity&& other) noexcept : coroutine_(other.release()) {}
  activity& operator=(activity&&) = delete;
  ~activity() {
    if (coroutine_ != nullptr) coroutine_->handle().destroy();
  }

  /// Runs the coroutine as a part of the one that awaits it. Throws its exception, and `error` if it was moved from or
  /// awaited before.
  auto operator co_await() && {
    struct awaiter {
      promise_type* inner;

      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> outer) const noexcept {
        inner->set_awaited_by(outer);
        return inner->handle();
      }
      R await_resume() const { return inner->take_or_throw(); }
    };
    if (coroutine_ == nullptr || coroutine_->was_awaited())
      throw error(
          "activity: co_await of one that was moved from, or awaited before; call the function again for another "
          "activity");
    return awaiter{coroutine_};
  }

  /// Gives the coroutine to the caller, which must destroy it.
  promise_type* release() noexcept { return std::exchange(coroutine_, nullptr); }

 private:
  explicit activity(promise_type* coroutine) noexcept : coroutine_(coroutine) {}

  promise_type* coroutine_;
};

/// Says what to write: a future of a plain task cannot resume an activity.
template <class F>
  requires detail::is_task_future<F>
auto operator co_await(const F& /*future*/) {
  static_assert(!detail::is_task_future<F>,
                "a kith::future cannot be awaited in an activity; write f.get(), which runs other tasks meanwhile");
  return detail::refused_awaiter();
}

/// In an activity that is a coroutine: `co_await kith::async_finish(f)` is kith::finish(f), and holds no worker and no
/// stack while it waits for the activities that `f` has spawned. Throws what kith::finish() throws.
template <class F>
[[nodiscard]] auto async_finish(F&& f) {
  using body_type = std::decay_t<F>;
  static_assert(std::is_invocable_v<body_type&>,
                "argument 1 of async_finish cannot be called without arguments; write [&] { ... }");
  static_assert(!detail::is_unstarted_coroutine<body_type>(),
                "a coroutine is spawned: write at(place).spawn<function>() in the finish");
  static_assert(!detail::is_destroyed_twice<F>,
                "GCC 12 destroys this temporary twice; name the lambda first: auto body = [...] {...}; co_await "
                "kith::async_finish(body)");
  class awaiter {
   public:
    explicit awaiter(F&& f) : body_(std::forward<F>(f)) {}

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> suspended) {
      const auto call = [](void* b) { static_cast<void>((*static_cast<body_type*>(b))()); };
      detail::begin_finish(&body_, call, suspended, state_);
    }
    void await_resume() const { detail::end_finish(state_.get()); }

   private:
    body_type body_;
    std::shared_ptr<void> state_;
  };
  return awaiter(std::forward<F>(f));
}

}  // namespace kith
