// One half of a join: a function that may run on another worker, and its result. It lives in the frame of join().
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

namespace kith {

class task;

}  // namespace kith

namespace kith::detail {

/// The half as thieves see it.
class half {
 public:
  enum : std::uint32_t { done = 1, failed = 2, failed_late = 4 };
  using code = void (*)(half&) noexcept;
  explicit half(code what) noexcept : run_(what) {}
  half(const half&) = delete;
  half& operator=(const half&) = delete;

  /// Called by the owner before other workers can see the half, with the task that joins (null: the root).
  void prepare(kith::task* joining) noexcept {
    joins = joining;
    state_ = 0;
  }
  /// Runs the function and keeps its result or exception. The owner sees that after announce().
  void run() noexcept { run_(*this); }
  /// Keeps the failure of a task that the half created and did not wait for.
  void fail_late(std::exception_ptr why) noexcept {
    ::new (static_cast<void*>(late_)) std::exception_ptr(std::move(why));
    outcome_ |= failed_late;
  }
  /// Tells the owner that the half has ended; it may be gone after that.
  void announce() noexcept { state().store(outcome_ | done, std::memory_order_release); }  // pairs with is_done()
  bool runs(code what) const noexcept { return run_ == what; }
  bool has_failed() const noexcept { return (outcome_ & failed) != 0; }
  bool is_done() const noexcept { return state().load(std::memory_order_acquire) != 0; }

  /// REQUIRES: is_done(). Null if no task has failed late. Must be called once.
  std::exception_ptr take_late() noexcept {
    if ((outcome_ & failed_late) == 0) return nullptr;
    auto& kept = *std::launder(reinterpret_cast<std::exception_ptr*>(late_));
    std::exception_ptr why = std::move(kept);
    std::destroy_at(&kept);
    return why;
  }

  kith::task* joins;

 protected:
  std::uint32_t outcome_;  // set by run_

 private:
  std::atomic_ref<std::uint32_t> state() const noexcept { return std::atomic_ref(state_); }

  const code run_;
  mutable std::uint32_t state_;  // 0: not done. Set by prepare(), so that a half that is never offered costs no store.
  alignas(std::exception_ptr) std::byte late_[sizeof(std::exception_ptr)];
};

/// The result of a half: its value; a reference; std::monostate for void.
template <class F>
using half_result =
    std::conditional_t<std::is_void_v<std::invoke_result_t<F&>>, std::monostate, std::invoke_result_t<F&>>;

/// Such a result, kept for later; it may be a reference.
template <class F>
struct kept_result {
  half_result<F> it;
  explicit kept_result(half_result<F>&& made) : it(std::forward<half_result<F>>(made)) {}
  half_result<F>&& take() { return std::forward<half_result<F>>(it); }
};

template <class F>
half_result<F> call_half(F& f) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&>>) {
    std::invoke(f);
    return {};
  } else {
    return std::invoke(f);
  }
}

/// How join() keeps a function that it got as F&&: small trivially copyable temporaries by value, so that the caller's
/// object can stay in registers; all others by reference.
template <class F>
inline constexpr bool kept_by_value =
    !std::is_reference_v<F> && std::is_trivially_copyable_v<F> && sizeof(F) <= 4 * sizeof(void*);
template <class F>
using kept_function = std::conditional_t<kept_by_value<F>, std::remove_const_t<F>, std::remove_reference_t<F>&>;

template <class F>
class half_of final : public half {
 public:
  using result = half_result<F>;
  explicit half_of(std::remove_reference_t<F>& f) noexcept : half(&run_it), f_(f) {}

  /// Returns the result of run(), or throws its exception. Must be called once, after run().
  result take() {
    if ((outcome_ & failed) != 0) {
      auto& kept = *std::launder(reinterpret_cast<std::exception_ptr*>(room_));
      const std::exception_ptr why = std::move(kept);
      std::destroy_at(&kept);
      std::rethrow_exception(why);
    }
    if constexpr (std::is_reference_v<result>) {
      return static_cast<result>(**std::launder(reinterpret_cast<std::remove_reference_t<result>**>(room_)));
    } else {
      auto& kept = *std::launder(reinterpret_cast<result*>(room_));
      const destroyed at_end{kept};
      return std::move(kept);
    }
  }
  /// Drops what take() would return.
  void drop() noexcept {
    if ((outcome_ & failed) != 0) {
      std::destroy_at(std::launder(reinterpret_cast<std::exception_ptr*>(room_)));
    } else if constexpr (!std::is_reference_v<result>) {
      std::destroy_at(std::launder(reinterpret_cast<result*>(room_)));
    }
  }

 private:
  struct destroyed {
    result& kept;
    ~destroyed() { std::destroy_at(&kept); }
  };
  static void run_it(half& h) noexcept {
    half_of& self = static_cast<half_of&>(h);
    self.outcome_ = 0;
    try {
      if constexpr (std::is_reference_v<result>) {
        result got = detail::call_half(self.f_);
        ::new (static_cast<void*>(self.room_)) std::remove_reference_t<result>*(std::addressof(got));
      } else {
        ::new (static_cast<void*>(self.room_)) result(detail::call_half(self.f_));
      }
    } catch (...) {
      ::new (static_cast<void*>(self.room_)) std::exception_ptr(std::current_exception());
      self.outcome_ = failed;
    }
  }

  static constexpr std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }
  template <class T>
  using kept_as = std::conditional_t<std::is_reference_v<T>, void*, T>;
  kept_function<F> f_;
  alignas(larger(alignof(kept_as<result>), alignof(std::exception_ptr)))
      std::byte room_[larger(sizeof(kept_as<result>), sizeof(std::exception_ptr))];
};

}  // namespace kith::detail
