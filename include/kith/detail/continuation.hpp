// The interface of coroutines and the engine: which strand continues a coroutine that waits for others.
//
// A coroutine starts another one by a plain call, on the same stack. It is suspended meanwhile, so that another worker
// may continue it; if none does, the call returns, and it continues without having returned itself. If one does (the
// coroutine was stolen), the same holds for all coroutines below it on that stack, because the oldest are stolen first.
// Then the stack unwinds: each of them returns, without a look at its frame, which another worker may have freed.
// Invariants:
//  C1  A strand is a sequence of coroutines on one stack: from a sync_wait() or a steal until nothing is left that the
//      stack may continue with. Its continuations are the entries of the stack's lane from the strand's base on.
//  C2  A suspended coroutine is resumed by the strand that arrives last at the continuation where it waits: after a
//      steal, that of the first half or that of the second one.
//  C3  A coroutine runs with its stack of frames in the lane of its strand. While a strand continues a stolen
//      coroutine, before the halves have met, it has another stack of frames, because the first half still allocates on
//      the coroutine's own one. The strand that arrives last takes that.
#pragma once

#include <kith/detail/fork_lane.hpp>

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

namespace kith::detail {

class coroutine_root;
struct coroutine_promise;

/// The coroutine that waits for one or two others.
struct awaiting {
  coroutine_promise* suspended = nullptr;  // null: sync_wait()
  frame_stack* stack = nullptr;            // null: the continuation was not offered, or was withdrawn; else C3
};

/// The part of a promise that does not depend on the type of the result.
struct coroutine_promise {
  awaiting* awaiter;

  void start() noexcept { std::coroutine_handle<coroutine_promise>::from_promise(*this).resume(); }
  void destroy() noexcept { std::coroutine_handle<coroutine_promise>::from_promise(*this).destroy(); }
  static void* operator new(std::size_t bytes) { return allocate_frame(this_lane->frames, frame_bytes(bytes)); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    free_frame(this_lane->frames, frame, frame_bytes(bytes));
  }
};

/// The result of a coroutine: what it returns or throws. In the frame of the coroutine that awaits it.
template <class T>
class coroutine_result {
 public:
  using given = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
  using kept = std::conditional_t<std::is_reference_v<given>, std::remove_reference_t<given>*, given>;

  template <class... V>
  void succeed(V&&... value) {
    if constexpr (std::is_reference_v<given>) {
      ::new (static_cast<void*>(room_)) kept(std::addressof(value)...);
    } else {
      ::new (static_cast<void*>(room_)) kept(std::forward<V>(value)...);
    }
    if constexpr (has_destructor) succeeded_ = true;
    failed_ = false;
  }
  void fail() noexcept {
    if constexpr (has_destructor) {  // a local variable's destructor has thrown after co_return
      if (succeeded_) std::destroy_at(&value());
    }
    ::new (static_cast<void*>(room_)) std::exception_ptr(std::current_exception());
    failed_ = true;
  }
  bool has_failed() const noexcept { return failed_; }
  /// Returns the value, or throws. Must be called once, when the coroutine has ended.
  given take() {
    if (failed_) [[unlikely]]
      rethrow();
    return take_value();
  }
  /// As take(). REQUIRES: it has not failed.
  [[gnu::always_inline]] given take_value() {
    if constexpr (std::is_reference_v<given>) {
      return static_cast<given>(*value());
    } else if constexpr (std::is_trivially_copyable_v<kept>) {
      return value();
    } else {
      const struct destroyed {
        kept& it;
        ~destroyed() { std::destroy_at(&it); }
      } at_end{value()};
      return std::move(value());
    }
  }
  /// Drops what take() would return.
  void drop() noexcept {
    if (failed_) {
      std::destroy_at(&failure());
    } else {
      std::destroy_at(&value());
    }
  }

 private:
  static constexpr std::size_t larger(std::size_t a, std::size_t b) { return a > b ? a : b; }
  kept& value() noexcept { return *std::launder(reinterpret_cast<kept*>(room_)); }
  std::exception_ptr& failure() noexcept { return *std::launder(reinterpret_cast<std::exception_ptr*>(room_)); }
  [[noreturn, gnu::cold, gnu::noinline]] void rethrow() {
    const std::exception_ptr why = std::move(failure());
    drop();
    std::rethrow_exception(why);
  }

  static constexpr bool has_destructor = !std::is_trivially_destructible_v<kept>;
  alignas(larger(alignof(kept),
                 alignof(std::exception_ptr))) std::byte room_[larger(sizeof(kept), sizeof(std::exception_ptr))];
  bool failed_;
  [[no_unique_address]] std::conditional_t<has_destructor, bool, std::monostate> succeeded_{};
};

/// A coroutine that has offered what follows its first half. The object is in its frame.
class coroutine_continuation : public half, public awaiting {
 public:
  using second_half = void (*)(coroutine_continuation&) noexcept;

  /// Resumes the coroutine, on any stack, after both halves have ended; the object may be gone by then.
  coroutine_root* root;          // set, as are the next members, before other workers can see it
  std::uint32_t not_ended;       // halves
  const second_half run_second;  // starts it; it may not have ended when the call returns

 protected:
  explicit coroutine_continuation(second_half what) noexcept : half(&never_run), run_second(what) {}

 public:
  /// Marks halves that are continuations. Not called.
  static void never_run(half&) noexcept;
};

/// Called when an entry of a lane becomes private again.
inline void withdraw(half& h) noexcept {
  if (h.runs(&coroutine_continuation::never_run)) static_cast<coroutine_continuation&>(h).stack = nullptr;
}

/// A sequence of coroutines on one stack (C1).
struct strand {
  split_deque<half>::slot_pointer base;
  coroutine_root* root;
  const strand* outer;  // further down the stack
  bool stolen;          // begins with a steal
};

/// Called after the push in this_lane has failed. As offer().
join_by offer_rest(coroutine_continuation&) noexcept;
/// Called when the first half has returned, and the continuation was public. True if the coroutine continues here.
/// False if it was stolen: the stack unwinds, and the continuation may be gone.
bool take_back_continuation(fork_lane&, coroutine_continuation&, split_deque<half>::slot_pointer) noexcept;

/// The object that a call of sync_wait() waits for.
class coroutine_root : public awaiting {
 public:
  coroutine_root() = default;
  coroutine_root(const coroutine_root&) = delete;
  coroutine_root& operator=(const coroutine_root&) = delete;
  /// Runs the coroutine, on this worker and on those that steal from it. Returns when it has its result. Throws
  /// std::bad_alloc if it cannot begin; the coroutine is then destroyed.
  void run(coroutine_promise&);

  /// Keeps the failure of a task that a strand created. Any thread.
  void fail_late(std::exception_ptr why) noexcept {
    if (!failed_late_.exchange(true, std::memory_order_relaxed)) late_ = std::move(why);
  }
  /// REQUIRES: all have ended.
  std::exception_ptr take_late() noexcept { return std::move(late_); }

  kith::task* task = nullptr;               // the task that called sync_wait(); null: the root
  int owner = 0;                            // the worker that waits
  frame_stack* frames = nullptr;            // the stack that its lane held before
  std::atomic<std::uint32_t> not_ended{1};  // the coroutine, and each strand that has stolen a part of it

 private:
  std::atomic<bool> failed_late_{false};
  std::exception_ptr late_;
};

}  // namespace kith::detail
