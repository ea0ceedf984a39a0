// A runtime: its workers, its policy, its statistics.
#pragma once

#include <kith/future.hpp>
#include <kith/statistics.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace kith {

/// How a runtime is set up. What is left at its default is taken from the environment variable named, then from
/// the built-in default. A wrong value is an `error` that names it.
struct runtime_options {
  std::string policy;  // KITH_POLICY, "auto"; with options: "steal:victim=nearest,end=fifo" (see `kith policies`)
  int workers = 0;     // KITH_WORKERS; 0: as many as this process may use cores
  /// KITH_BIND, "auto": where a worker's thread may run while it works. "cores": on one CPU of its own; "nodes": on the CPUs
  /// of its memory node that this process may use; "off": wherever the process may. "auto": "nodes" where there are several
  /// nodes, else "off". What is started inside tasks: see kith::unbound.
  std::string bind;
  std::string machine;         // KITH_MACHINE; "": this machine; "node:8 core:10": behave as if on that one
  std::int64_t throttle = -1;  // KITH_THROTTLE, 2048: unfinished tasks of one creator before it helps; 0: no bound
  std::int64_t throttle_bytes = -1;  // KITH_THROTTLE_BYTES, 0 (no bound): bytes that unfinished tasks access
  int inline_limit =
      -1;         // KITH_INLINE, 0: never; 1: run a ready task at its creation; L: only if L tasks a worker wait
  int spin = -1;  // KITH_SPIN, 2000: looks for work before an idle worker sleeps
  std::size_t stack_bytes = 0;  // KITH_STACK, 64 MiB: address space of each stack of a worker
  /// KITH_STACKS, 10000: waits of a worker that may be suspended at a time, each on a stack of its own. A wait beyond them
  /// ends with an error that names it.
  int stacks = -1;
  std::uint64_t seed = 0;  // KITH_SEED, 1: of the policies' random choices
  int oversubscribe =
      -1;  // KITH_OVERSUBSCRIBE, 0: `workers` is bounded by the cores this process may use; 1: it is not
  /// KITH_CHECK_HANDLES, 0. 1: overlaps of handles, with each other or with raw ranges, are errors. For debugging: about 200 ns for each handle and wait.
  int check_handles = -1;
  /// KITH_RECORD: the file that what runs is recorded in (`kith record`, `kith sim`). Of several runtimes in a process,
  /// the second writes FILE-2, and so on. "": nothing is recorded.
  std::string record;
  /// KITH_MEMORY, "system": how allocations that name no distribution are spread (kith::distribution): system, fine,
  /// coarse, local, block, node:N, deferred; with ",huge" in huge pages.
  std::string memory;
  /// KITH_MIGRATE, 0. 1: the pages of data that a task writes are moved to the node of the worker that runs it, many at a
  /// time. The same as "+pm" behind the policy's name, as in "dep+pm".
  int migrate = -1;
  /// KITH_DRY, 0. 1: tasks that say what they cost (kith::work, a graph's cost()) are not run, only recorded.
  int dry = -1;
  /// KITH_CALIBRATE, 0. With `record` and one worker: so many tasks of each type and size are run again, with their data
  /// out of the caches and in them, and the recording says how long each took (`kith calibrate`). A task that declares all
  /// that it writes notices nothing: what it wrote is restored. Tasks without accesses, with concurrent ones, whose
  /// function is not const, or that create tasks are left alone.
  int calibrate = -1;
};

/// Workers and a policy. Several may live side by side; each can be used from any thread.
class runtime {
 public:
  explicit runtime(const runtime_options& options = {});
  /// Waits for everything submitted, then stops the workers. Not by a task of this runtime: that ends the program. In a child
  /// of fork() a runtime that was made before does nothing here; its other members throw kith::error.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Runs `f` as a root task and waits for it and all its descendants. The calling thread is a worker
  /// meanwhile (or, if another thread is, hands `f` over and sleeps). Returns what `f` returns, a value or a
  /// reference; throws its exception, else the first one of its children. Thread-safe. Tasks that were submitted may run on
  /// the calling thread, too: one that waits there when `f` and its descendants have ended is run to its end first.
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

  /// Creates a task from any thread. Submitted tasks are siblings of each other: their accesses order them
  /// in the order of submission. Exceptions go to the future, as with async(). Thread-safe; takes a lock. The throttle
  /// does not bound what is submitted: the submitting thread could not help.
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
  /// Waits for all tasks submitted so far. Throws the first exception of a child that a submitted task did not wait for,
  /// if no future of that task was left to take it (the tasks' own go to their futures). Thread-safe; not from inside a
  /// task.
  void wait();

  /// How many there are; the same as long as the runtime lives. Thread-safe, as is the next.
  int workers() const noexcept;
  /// Names this moment in the recording, if there is one; figures of a replay are of what follows the last mark.
  /// Thread-safe.
  void mark(const std::string& text);
  /// The file that the recording will be in when the runtime has ended; empty: nothing is recorded.
  std::string recorded_in() const;
  /// True if tasks that say what they cost are not run.
  bool dry() const noexcept;
  /// The policy, with its options, as it was chosen.
  std::string policy() const;
  /// Of everything since the start or the last reset. Call it while no task runs.
  kith::statistics statistics() const;
  /// Counts from here on. Call it while no task runs.
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
