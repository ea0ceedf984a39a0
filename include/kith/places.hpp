// Places: groups of workers that share no queue. A program names the place where an activity runs.
//
// Affinity-driven distributed scheduling (ADS), section 4. docs/places.md is the tutorial.
#pragma once

#include <kith/detail/remote_activity.hpp>
#include <kith/runtime.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

/// An activity failed at a place. Thrown by finish() and by place_future::get(); the text names the place and has
/// the activity's own message.
class place_error : public error {
 public:
  place_error(int place, const std::string& reason);
  /// Where it failed.
  int place() const noexcept { return place_; }
  /// The text of the activity's own exception.
  const std::string& reason() const noexcept { return *reason_; }

 private:
  int place_;
  std::shared_ptr<const std::string> reason_;  // shared, so that a copy cannot throw
};

/// A place was lost: its process has ended, or cannot be reached. place_options::on_loss says what then fails with this
/// error.
class place_lost : public place_error {
 public:
  using place_error::place_error;
};

/// How activities are scheduled.
enum class place_scheduling : std::uint8_t {
  ads,  // each runs at the place that was named, and is stolen only there
  cws,  // all workers are one group that steals from all; the named place is ignored. The paper's comparison
};

/// What a worker does while a place does not accept its activity.
enum class place_waiting : std::uint8_t {
  works,   // runs other tasks of its place
  blocks,  // nothing, as in the paper
};

/// How a place keeps others from sending it more activities than its buffer has room for.
enum class place_admission : std::uint8_t {
  refusals,  // it refuses, and the spawner offers the activity again later, as in the paper
  credits,   // each spawning place has an equal share of the room, and waits when that is used up. A spawn returns at
             // once while there is room, unless its arguments have 64 KiB or more, which are read where they are
};

/// The effect of a lost place on the others.
enum class place_loss : std::uint8_t {
  all_fail,         // everything that the places were doing fails with place_lost, at all places; so does what is
                    // started later, until the place_runtime is destroyed
  survivors_go_on,  // only what needs the lost place fails: each finish() and future that waited for an activity there,
                    // spawns to it, and one collective (collectives.hpp). Idempotent activities
                    // (place_ref::idempotent) run again at another place. If place 0 is lost, everything fails. The
                    // launcher must leave the others alone: `kith launch`, or `mpirun --with-ft ulfm` of Open MPI 5
};

/// How places are set up. The constructor of place_runtime throws `error` for a wrong value and names it.
struct place_options {
  /// The number of places, 1 to 1024; default: KITH_PLACES, else 1. If a launcher has started several processes, each
  /// is one place: leave this empty, or give exactly their number.
  optional_number<int> places = {};
  /// The options of each place's runtime. `workers` is for each place (default: an equal share of the cores that this
  /// process may use); without `oversubscribe` all places together have no more workers than there are cores, but one
  /// each. The policy is `ads` unless it, or KITH_POLICY, names another.
  runtime_options each = {};
  place_scheduling scheduling = place_scheduling::ads;
  /// The slots of a fresh activity buffer, and the share of them from which on a place refuses activities (paper: a
  /// "given threshold"). At least one activity is always accepted.
  int fab_slots = 64;
  double fab_threshold = 0.5;
  /// The paper's delta_t: seconds until a refused activity is offered again. Doubles with each refusal, up to
  /// `retry_most_seconds`.
  double retry_seconds = 10e-6;
  double retry_most_seconds = 1e-3;
  /// After this number of refusals, with the defaults after about 60 ms, the place must take the activity. The paper
  /// assumes buffers that are large enough; without a bound, places whose workers all wait for each other would wait
  /// for ever.
  int most_refusals = 64;
  place_waiting waiting = place_waiting::works;
  place_admission admission = place_admission::refusals;
  /// With credits: after this time a spawn proceeds without one, for the reason of `most_refusals`.
  double credit_seconds = 0.06;
  /// Must be the same in all processes.
  place_loss on_loss = place_loss::all_fail;
};

/// What one place has counted since it was made, or since the last reset. Messages are those that it sent.
struct place_statistics {
  std::uint64_t messages = 0, message_bytes = 0;
  // By kind; these add up to all. Bytes include headers of 64 bytes.
  std::uint64_t spawns_sent = 0, spawn_bytes = 0;    // offers of activities, repeated ones included
  std::uint64_t answers_sent = 0, answer_bytes = 0;  // to offers: `accepted` and `refused`
  std::uint64_t results_sent = 0, result_bytes = 0;
  std::uint64_t dones_sent = 0, done_bytes = 0;      // messages of finish() alone (docs/finish.md)
  std::uint64_t credits_sent = 0, credit_bytes = 0;  // those that had nothing but credits
  // For the bound on bytes (ADS, Theorem 4.6): the largest spawn in bytes (S_max), and the most activities and results
  // at other places that one finish waited for at this place (n_d).
  std::uint64_t largest_spawn = 0, most_edges = 0;
  std::uint64_t spawns_accepted = 0;  // activities from other places
  std::uint64_t spawns_refused = 0;   // offers that this place refused
  std::uint64_t spawns_forced = 0;    // accepted above the threshold, after most_refusals
  std::uint64_t spawns_waited = 0;    // spawns that found no credit
  std::uint64_t activities = 0;       // activities that ran here, local ones included
  std::uint64_t fab_peak = 0;         // the most activities in the buffer at a time
  double fab_mean = 0;                // activities in the buffer, averaged over the arrivals
  kith::statistics tasks;             // of the place's runtime
};

/// The result of an activity at some place. Any thread of the place where it was made may ask for it; a task that
/// waits for it runs other tasks meanwhile. It cannot be sent to another place. Copies refer to the same result.
template <class R>
class place_future {
 public:
  /// A future without an activity: wait() and get() throw `error`.
  place_future() = default;

  /// Whether it belongs to an activity.
  bool valid() const noexcept { return result_ != nullptr; }
  /// The place that was named; -1 without a result.
  int place() const noexcept { return place_; }
  /// Whether the activity has ended, so that get() returns at once. False without an activity.
  bool ready() const noexcept { return result_ && result_->ended.done(); }
  /// Waits until the activity has ended, without its exception. Throws `error` if the future has no activity, or no
  /// stack is left for the tasks that should run meanwhile (runtime_options::stacks).
  void wait() const {
    if (!valid()) throw error("place_future: no activity behind it; expected one that at(place).async() returned");
    result_->ended.wait();
  }
  /// A copy of the value, read from its bytes. Throws place_error if the activity failed.
  R get() const {
    wait();
    if (result_->failure) std::rethrow_exception(result_->failure);
    if constexpr (!std::is_void_v<R>) {
      detail::input_archive from(std::span<const std::byte>(result_->value).subspan(detail::header_bytes));
      R value = detail::get<R>(from);
      from.expect_end();
      return value;
    }
  }

  /// In an activity that is a coroutine (activity.hpp): `co_await` waits for the result as get() does, and holds no
  /// worker and no stack meanwhile. Throws as get(), and `error` in an activity that is not a coroutine.
  auto operator co_await() const {
    struct awaiter {
      place_future future;

      bool await_ready() const noexcept { return future.ready(); }
      void await_suspend(std::coroutine_handle<> suspended) const {
        if (!future.valid()) return future.wait();                             // throws
        const std::shared_ptr<detail::remote_result> result = future.result_;  // *this may end in then()
        result->then(detail::resumption(suspended));
      }
      R await_resume() const { return future.get(); }
    };
    return awaiter{*this};
  }

 private:
  friend class place_ref;
  place_future(std::shared_ptr<detail::remote_result> result, int place) : result_(std::move(result)), place_(place) {}

  std::shared_ptr<detail::remote_result> result_;
  int place_ = -1;
};

/// The number of places. Throws `error` if there is no place_runtime. Thread-safe; a load.
int places();
/// The place of the running activity: the one that was named when it was spawned. Throws `error` if the thread runs
/// no activity. Thread-safe; takes a lock, and takes longer in tasks that are nested deeply.
int here();

/// A place, to spawn activities at.
class place_ref {
 public:
  /// Spawns an activity that calls `F(args...)` at this place, and belongs to the innermost finish() around the
  /// caller. The arguments are copied as bytes, also within a process and a place: trivially copyable types, vectors
  /// and spans of them and text as they are, other types through their cereal functions. A parameter
  /// std::span<const T> or std::string_view refers to the message, and is valid until the function returns. Do not
  /// change arguments before spawn() has returned: large ones are read where they are.
  ///
  /// Returns when the place has accepted the activity. While its buffer is full, the caller waits and offers it again
  /// (place_options); at the caller's own place, the activity is queued at once. An exception goes to the finish().
  /// The activity ends when `F` and the tasks that it created have ended; the finish() also waits for what it spawned.
  /// An activity at the caller's own place is also a task of the caller: the caller ends after it, kith::wait() waits
  /// for it, and it is cancelled as a task is (kith::cancel(), or a task beside it that fails). Throws `error` if no
  /// activity runs on this thread, or no stack is left while it waits (place_future::wait), and place_lost.
  /// Thread-safe. Cost: one message, and one for the answer. ADS, section 4, step 1(a).
  template <auto F, class... Args>
  void spawn(const Args&... args) const {
    spawn(detail::constant_function<F>{}, args...);
  }
  /// The same with a lambda that captures nothing.
  template <class F, class... Args>
  void spawn(F, const Args&... args) const {
    if constexpr (detail::is_remote_call<F, Args...>()) {
      using known = detail::registered<F>;
      detail::spawn_at(place_, known::entry, known::call::pack(detail::header_bytes, args...), nullptr, idempotent_);
    }
  }
  /// As spawn(), but returns a future for what `F` returns: one more message. The finish() waits for the result, too.
  /// An exception goes to the future. If that was dropped before the activity ended, it goes to the finish(); if it is
  /// dropped later without get(), it is lost. Use spawn() if the result is not needed.
  template <auto F, class... Args>
  [[nodiscard]] auto async(const Args&... args) const {
    return async(detail::constant_function<F>{}, args...);
  }
  template <class F, class... Args>
  [[nodiscard]] auto async(F, const Args&... args) const {
    if constexpr (detail::is_remote_call<F, Args...>()) {
      using known = detail::registered<F>;
      using R = typename detail::result_value<typename known::call::result>::type;
      static_assert(!detail::is_span<R> && !detail::is_text_view<R>,
                    "a result must own its data: return a std::vector or a std::string");
      auto result = std::make_shared<detail::remote_result>();
      detail::spawn_at(place_, known::entry, known::call::pack(detail::header_bytes, args...), result, idempotent_);
      return place_future<R>(std::move(result), place_);
    } else {
      return place_future<void>();
    }
  }
  /// The same place, for activities that may run more than once, even at the same time, with the same effect. With
  /// place_loss::survivors_go_on, if their place is lost before their end is known, they run again at other places, in
  /// turn; so do those that are spawned after the loss: at(p).idempotent().spawn<function>(args...). What they had
  /// spawned at other places may still run meanwhile. Their spawner keeps a copy of the arguments until they and all
  /// that they have spawned have ended, which is one more message. So a future also gets the failures of what its
  /// activity has spawned. If no loss is survived, it changes nothing.
  [[nodiscard]] place_ref idempotent() const noexcept { return place_ref(place_, true); }
  /// Whether this place was lost, as far as this process knows. Throws `error` if there is no place_runtime.
  /// Thread-safe; takes a lock.
  bool is_lost() const { return detail::is_lost(place_); }
  /// The place that at() was called with.
  int number() const noexcept { return place_; }

 private:
  friend place_ref at(int place);
  explicit place_ref(int place, bool idempotent = false) noexcept : place_(place), idempotent_(idempotent) {}
  int place_;
  bool idempotent_;
};

/// Throws `error` unless 0 <= place < places().
[[nodiscard]] place_ref at(int place);

/// Runs `f` at the caller's place and waits for all activities that were spawned in it, and in those, wherever they
/// ran; and runs tasks meanwhile. Throws the exception of `f`, else, as place_error, that of the first failed activity
/// whose failure arrived; no activity is cancelled. May be nested: an inner finish waits for its own activities only.
/// Throws `error` if no activity runs on this thread, or no stack is left for the tasks that should run meanwhile, and
/// place_lost. Messages: at most one for each activity that was sent to another place (docs/finish.md).
template <class F>
void finish(F&& f) {
  static_assert(std::is_invocable_v<F&>, "argument 1 of finish cannot be called without arguments; write [&] { ... }");
  static_assert(!detail::is_unstarted_coroutine<F>(),
                "a coroutine is spawned: write at(place).spawn<function>() in the finish");
  if constexpr (std::is_invocable_v<F&>) {
    auto call = [&] { static_cast<void>(f()); };
    detail::finish(&call, [](void* p) { (*static_cast<decltype(call)*>(p))(); });
  }
}

/// The places: the runtime of each, and its progress thread, which exchanges messages with the others. One may exist at
/// a time. All places are in this process, unless a launcher (kith launch, mpirun) has started several processes: then
/// each is one place, and each makes and destroys its place_runtime, as one step that they do together.
class place_runtime {
 public:
  /// Throws `error` for a wrong option; in several processes also if these do not run the same executable, have no
  /// transport, or one of them cannot make its place: then all throw, and name that place and its reason.
  explicit place_runtime(const place_options& options = {});
  /// REQUIRES: no run() is in progress. In several processes it works for place 0 until that destroys its own, as
  /// serve() does, and waits until all destroy theirs, or one is lost; where survivors go on, until all survivors do,
  /// and what lost places had spawned has ended.
  ~place_runtime();
  place_runtime(const place_runtime&) = delete;
  place_runtime& operator=(const place_runtime&) = delete;

  /// Runs `f` at place 0, as by finish(), and sleeps meanwhile; what `f` returns is dropped. Thread-safe. Throws
  /// `error` if a task calls it. In several processes each must call it: `f` runs in that of place 0 alone, and a call
  /// elsewhere returns when that run has ended, or throws its exception as place_error.
  template <class F>
  void run(F&& f) {
    static_assert(std::is_invocable_v<F&>, "argument 1 of run cannot be called without arguments; write [&] { ... }");
    static_assert(!detail::is_unstarted_coroutine<F>(),
                  "a coroutine is spawned: write run([] { kith::at(0).spawn<function>(); })");
    if constexpr (std::is_invocable_v<F&>) {
      auto call = [&] { static_cast<void>(f()); };
      run_root(&call, [](void* p) { (*static_cast<decltype(call)*>(p))(); });
    }
  }
  /// For a process that does not call run() as often as that of place 0: works for the others until place 0 destroys
  /// its place_runtime. Returns at once in the process of place 0. Throws place_lost if a place is lost.
  void serve();
  /// The number of places, in all processes together.
  int places() const noexcept;
  /// Whether this place is in this process. run() runs its function where place 0 is.
  bool has_place(int place) const noexcept;
  /// The number of workers of each place; under `cws`, of all places together.
  int workers() const noexcept;
  /// The policy inside each place, with its options.
  std::string policy() const;
  /// "threads": all places are in this process. "mpi": each place is a process, under either MPI.
  std::string transport() const;
  /// True if tasks with a stated cost are not run (runtime_options::dry).
  bool dry() const noexcept;
  /// One entry for each place; under `cws` one for all. Must not be called during run(). In the process of place 0 it
  /// asks all processes; elsewhere the entries of other places are empty.
  std::vector<place_statistics> statistics() const;
  /// Starts all counts again, in all processes if called in that of place 0; elsewhere it does nothing. Must not be
  /// called during run(). After a loss that is survived, both wait for what the lost place had spawned.
  void reset_statistics();

  class implementation;

 private:
  void run_root(void* context, void (*f)(void*));
  std::unique_ptr<implementation> impl_;
};

/// An object for each place, made by its default constructor at the first use there. Usually static. Other static
/// variables belong to the process: places that are threads of one process share them. Thread-safe, but not the object
/// itself, which all activities of the place use, several at a time if it has several workers. Takes a lock. If several
/// threads use it first, each makes an object, and one of these is kept. The objects live as long as this one, so also
/// from one place_runtime to the next.
template <class T>
class place_local {
 public:
  /// The object of the place where the caller's activity runs. Throws as here().
  T& operator*() {
    const int place = here();
    {
      const std::lock_guard lock(guard_);
      if (const auto at = objects_.find(place); at != objects_.end()) return *at->second;
    }
    auto made = std::make_unique<T>();  // without the lock: it may wait, and this worker then runs other tasks
    const std::lock_guard lock(guard_);
    return *objects_.try_emplace(place, std::move(made)).first->second;
  }
  T* operator->() { return &**this; }

 private:
  std::mutex guard_;
  std::map<int, std::unique_ptr<T>> objects_;
};

}  // namespace kith
