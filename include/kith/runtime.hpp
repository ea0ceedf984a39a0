// A runtime: its workers, its policy, its statistics. runtime_options.hpp has its options.
#pragma once

#include <kith/future.hpp>
#include <kith/runtime_options.hpp>
#include <kith/statistics.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kith {

/// Workers and a policy. Several runtimes may exist at a time; each can be used from any thread.
class runtime {
 public:
  /// Starts the workers. Throws `error` that names the wrong option or setting, or what the system refused.
  explicit runtime(const runtime_options& options = {});
  /// Rejects a text at compile time, with a message that says what to write.
  template <class Text>
    requires std::is_convertible_v<const Text&, std::string_view>
  explicit runtime(const Text&) {
    static_assert(sizeof(Text) == 0, "argument 1 of runtime is a text; write kith::runtime rt({.policy = \"steal\"})");
  }
  /// Rejects a number at compile time, with a message that says what to write.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit runtime(Number) {
    static_assert(sizeof(Number) == 0, "argument 1 of runtime is a number; write kith::runtime rt({.workers = 4})");
  }
  /// Waits for all submitted tasks, then stops the workers. A task of this runtime must not call it: that ends
  /// the program. In a child of fork(), the destructor of a runtime made before the fork does nothing, and its
  /// other members throw kith::error.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Runs `f` as a root task and waits for it and all its descendants. The calling thread is worker 0 meanwhile; if
  /// another thread already is, the caller passes `f` to it and sleeps. Returns what `f` returns, a value or a
  /// reference; throws its exception, else the first one of its children. Thread-safe. Submitted tasks may also run on
  /// the calling thread: if one of them waits there when `f` and its descendants have ended, run() returns only after
  /// that task has ended.
  ///
  /// Tasks may run other runtimes, and wait for their tasks. A thread that waits also works for those runtimes whose
  /// run() is further down its stack. Where all workers of several runtimes wait for each other otherwise, none goes
  /// on.
  template <class F>
  decltype(auto) run(F&& f) {
    static_assert(std::is_invocable_v<F&>, "argument 1 of run cannot be called without arguments; write [&] { ... }");
    if constexpr (std::is_invocable_v<F&>) {
      using R = std::invoke_result_t<F&>;
      if constexpr (std::is_void_v<R>) {
        auto call = [&] { f(); };
        run_root(call);
      } else if constexpr (std::is_reference_v<R>) {
        std::remove_reference_t<R>* result = nullptr;
        auto keep = [&] {
          R got = f();
          result = std::addressof(got);
        };
        run_root(keep);
        return static_cast<R>(*result);
      } else {
        std::optional<R> result;
        auto keep = [&] { result.emplace(f()); };
        run_root(keep);
        return static_cast<R>(std::move(*result));
      }
    }
  }

  /// Creates a task from any thread. Submitted tasks are siblings: their accesses order them in the order of
  /// submission. Exceptions go to the future, as with async(). Thread-safe; takes a lock. The throttle does not
  /// apply, because the submitting thread cannot run tasks.
  template <class F, class... Args>
  [[nodiscard]] auto submit(F&& f, const Args&... args) {
    if constexpr (detail::is_task_call<F, Args...>()) {
      return detail::create_with_result(
          std::forward<F>(f),
          [&](auto&& closure) {
            return detail::creation(*this).make(std::forward<decltype(closure)>(closure), args...);
          },
          args...);
    } else {
      return future<void>();
    }
  }
  /// Waits for all tasks submitted so far. The tasks' own exceptions go to their futures. Throws the first
  /// exception of a child that a submitted task did not wait for, if no future of that task was left.
  /// Thread-safe; must not be called inside a task.
  void wait();

  /// The number of workers; constant while the runtime lives. Thread-safe.
  int workers() const noexcept;
  /// Names this moment in the recording, if there is one. A simulation's figures cover what follows the last
  /// mark. Thread-safe.
  void mark(const std::string& text);
  /// The file that holds the recording once the runtime has ended; empty if nothing is recorded.
  std::string recorded_in() const;
  /// True if tasks with a stated cost are not run (runtime_options::dry).
  bool dry() const noexcept;
  /// The policy, with its options, as it was chosen.
  std::string policy() const;
  /// Counts since the start or the last reset. Must not be called while a task runs.
  kith::statistics statistics() const;
  /// Starts all counts again. Must not be called while a task runs.
  void reset_statistics();

  class implementation;

 private:
  friend class implementation;
  template <class F>
  void run_root(F& f) {
    run_root(&f, [](void* p) { (*static_cast<F*>(p))(); });
  }
  void run_root(void* context, void (*f)(void*));

  std::unique_ptr<implementation> impl_;
};

}  // namespace kith
