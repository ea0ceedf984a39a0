// Tasks: how to create them, order them, wait for them.
#pragma once

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

/// Names a task that was created. A value of 8 bytes; stays valid after the task has ended (waiting for an
/// ended task is no wait).
struct task_ref {
  std::uint64_t value = 0;
};

/// A kind of task, known by its name in statistics and recordings. Make one for each kernel, usually static:
/// `static const kith::task_type gemm{"gemm"};`. At most 65535 in a process. Thread-safe.
class task_type {
 public:
  explicit task_type(const char* name);
  std::uint16_t number() const noexcept { return number_; }

 private:
  std::uint16_t number_;
};

// ---- options of a task, given to spawn() beside its accesses

/// A name for a single task: tasks of equal names are of one type, made when the name is first used (the bound on types
/// holds). Thread-safe; looks the name up under a lock. Where speed matters, use a task_type.
class name {
 public:
  explicit name(const std::string& text);
  std::uint16_t number() const noexcept { return number_; }

 private:
  std::uint16_t number_ = 0;
};

/// The worker whose data the task uses. A hint, honoured by the policy `nabbitc`; remote accesses are counted by it.
struct color {
  int value;
};
/// The memory node that the task should run on, 0 to 254; on a machine with fewer it wraps. A hint, honoured by the
/// policy `socket`.
struct node {
  int value;
};
/// What the task costs, in nanoseconds of computing, where a program knows. Kept in recordings; a dry recording
/// (runtime_options::dry) takes it for the run itself.
struct work {
  double nanoseconds;
};
/// A few levels. Honoured by the policies that say so in `kith policies`.
enum class priority : std::uint8_t { normal, high, low };
/// The task starts after `task` has ended. Both must be children of the same parent, or `task` an earlier task
/// of an enclosing scope: an edge to something that waits for this task never ends.
struct after {
  task_ref task;
};

/// Accesses whose number is known only when the program runs. The task's function gets no parameters for them.
class access_list {
 public:
  template <class P>
  void add(const access<P>& a) {
    records_.push_back(a.record);
  }
  std::span<const detail::access_record> records() const noexcept { return records_; }

 private:
  std::vector<detail::access_record> records_;
};

namespace detail {

struct hints {
  std::int32_t color = -1;
  std::int16_t node = -1;
  std::uint16_t type = 0;
  std::uint8_t priority = 0;
  bool detached = false;  // its exception is somebody else's (a future's)
  double work = -1;       // nanoseconds; negative: not said
};

enum class action : std::uint8_t {
  run,
  discard,   // destroys the closure: of a task that has ended, or that is not to run
  rehearse,  // run: the closure can be run again. For calibration alone
  fail,      // the task ran, then a child of it failed: std::current_exception()
};
enum class outcome : std::uint8_t {
  ended,      // nothing is left of the closure
  held,       // run; the closure is to be discarded when the task has ended, that is, after its children
  again,      // the task has said what else it waits for (node_phase); then it is run again
  generated,  // ended, and has made further tasks (node_phase)
  unable,  // nothing was done: the closure changes when it runs, and so cannot be rehearsed; or nobody asks for a failure
};
using task_code = outcome (*)(void* closure, action);

struct draft {
  void* task;
  void* closure;
};
class scope;

/// The scope that new tasks of this thread belong to. Throws if the thread runs no task.
scope& current_scope();
/// A task being made: room for its closure. Then exactly one of submit() and abandon().
draft begin(scope&, std::size_t closure_bytes, std::size_t closure_align, std::size_t accesses);
task_ref submit(scope&, const draft&, task_code, std::span<const access_record>, std::span<const task_ref>,
                const hints&);
void abandon(scope&, const draft&) noexcept;

/// What every task of closure type F runs. A closure that throws is held as well.
template <class F>
outcome code_of(void* closure, action what) {
  F& f = *std::launder(static_cast<F*>(closure));
  if (what == action::run) [[likely]] {
    f();
    return std::is_trivially_destructible_v<F> ? outcome::ended : outcome::held;
  }
  if (what == action::discard) {
    f.~F();
    return outcome::ended;
  }
  if (what == action::rehearse) {
    if constexpr (std::is_invocable_v<const F&>) {
      std::as_const(f)();
      return outcome::held;
    }
  } else if constexpr (requires { f.take_late_failure(); }) {
    if (f.take_late_failure()) return outcome::ended;
  }
  return outcome::unable;
}

inline void apply(hints& h, color c) noexcept { h.color = c.value; }
inline void apply(hints& h, node n) {
  if (n.value < 0 || n.value > 254) throw error("kith::node{" + std::to_string(n.value) + "}: expected 0 to 254");
  h.node = static_cast<std::int16_t>(n.value);
}
inline void apply(hints& h, work w) {
  if (!(w.nanoseconds >= 0 && w.nanoseconds < 1e18)) throw error("kith::work: expected nanoseconds, 0 or more");
  h.work = w.nanoseconds;
}
inline void apply(hints& h, priority p) noexcept { h.priority = static_cast<std::uint8_t>(p); }
inline void apply(hints& h, const task_type& t) noexcept { h.type = t.number(); }
inline void apply(hints& h, const name& n) noexcept { h.type = n.number(); }
template <class P>
void apply(hints&, const access<P>&) noexcept {}
inline void apply(hints&, after) noexcept {}
inline void apply(hints&, const access_list&) noexcept {}

template <class T>
inline constexpr bool is_access = false;
template <class P>
inline constexpr bool is_access<access<P>> = true;

template <class T>
T& parameter(T* p) noexcept {
  return *p;
}
template <class T>
std::span<T> parameter(std::span<T> s) noexcept {
  return s;
}

/// f bound to the parameters of its accesses, if it takes them; else f itself.
template <class F, class... P>
auto bind_parameters(F&& f, P... p) {
  using body = std::decay_t<F>;
  if constexpr (sizeof...(P) == 0) {
    return body(std::forward<F>(f));
  } else if constexpr (std::is_invocable_v<const body&, decltype(parameter(p))...>) {
    return [f = body(std::forward<F>(f)), p...]() { return f(parameter(p)...); };
  } else if constexpr (std::is_invocable_v<body&, decltype(parameter(p))...>) {
    return [f = body(std::forward<F>(f)), p...]() mutable { return f(parameter(p)...); };
  } else {
    static_assert(std::is_invocable_v<body&>,
                  "a task's function takes nothing, or one parameter for each access: T& or std::span<T>");
    return body(std::forward<F>(f));
  }
}

template <class... Args>
auto bind_accesses(auto&& f, const Args&... args) {
  [[maybe_unused]] auto pick = [](const auto& a) {
    if constexpr (is_access<std::remove_cvref_t<decltype(a)>>) {
      return std::make_tuple(a.parameter);
    } else {
      return std::tuple<>();
    }
  };
  return std::apply([&](auto... p) { return bind_parameters(std::forward<decltype(f)>(f), p...); },
                    std::tuple_cat(pick(args)...));
}

/// What a task declares, gathered from the arguments of spawn().
template <class... Args>
struct declaration {
  static constexpr std::size_t accesses = (std::size_t{0} + ... + std::size_t{is_access<Args>});
  static constexpr std::size_t edges = (std::size_t{0} + ... + std::size_t{std::is_same_v<Args, after>});

  access_record record[accesses + 1];
  task_ref before[edges + 1];
  std::size_t records = 0, befores = 0;
  const access_list* list = nullptr;

  explicit declaration(const Args&... args) { (add(args), ...); }

  template <class P>
  void add(const access<P>& a) noexcept {
    record[records++] = a.record;
  }
  void add(after a) noexcept { before[befores++] = a.task; }
  void add(const access_list& l) noexcept { list = &l; }
  template <class T>
  void add(const T&) noexcept {}
};

template <class F, class... Args>
task_ref create(scope& in, hints h, F&& closure, const Args&... args) {
  using body = std::decay_t<F>;
  (apply(h, args), ...);
  declaration<Args...> declared(args...);
  std::span<const access_record> records(declared.record, declared.records);
  std::vector<access_record> joined;  // only where a list is given
  if constexpr ((std::is_same_v<Args, access_list> || ...)) {
    joined.assign(records.begin(), records.end());
    joined.insert(joined.end(), declared.list->records().begin(), declared.list->records().end());
    records = joined;
  }
  const draft d = begin(in, sizeof(body), alignof(body), records.size());
  try {
    ::new (d.closure) body(std::forward<F>(closure));
  } catch (...) {
    abandon(in, d);
    throw;
  }
  return submit(in, d, &code_of<body>, records, {declared.before, declared.befores}, h);
}

}  // namespace detail

/// Creates a child of the running task. `f` is copied or moved into the task. `args` are accesses
/// (`in(x)`, `out(x)`, ...), `after(task)`, a `task_type` or `name`, `color`, `node`, `priority`, in any order.
///
/// Siblings behave as if they had run in the order of their creation, as far as their accesses say. The
/// task may have started, even ended, when spawn returns. At the throttle (runtime_options) the creator
/// first runs other tasks. Throws `error` if the thread runs no task, or an access crosses another one.
template <class F, class... Args>
task_ref spawn(F&& f, const Args&... args) {
  return detail::create(detail::current_scope(), {}, detail::bind_accesses(std::forward<F>(f), args...), args...);
}

/// Waits until all children of the running task have ended, running tasks meanwhile. The first exception of
/// a child is thrown here; its unstarted siblings are cancelled. Throws `error` if the thread runs no task.
void wait();

/// True if the running task's scope was cancelled: long tasks may ask and end early.
bool cancelled() noexcept;
/// Cancels the scope the running task belongs to: siblings that have not started are skipped, and so are
/// their descendants. Not an error: wait() then returns normally. A task that was submitted from outside has no siblings:
/// there it cancels the task's own children.
void cancel() noexcept;

/// The worker that runs the calling task, 0..workers-1; -1 outside of tasks.
int this_worker() noexcept;

/// Tasks that are waited for, and cancelled, together. Their accesses order them among each other, not
/// against tasks outside the group. Made, filled, waited for and destroyed by one task; cancel() and cancelled() may be
/// called by any thread while the group lives, its own tasks for example. The constructor throws `error` if the thread
/// runs no task.
class group {
 public:
  group();
  /// Waits. An exception that nobody took goes to the enclosing scope.
  ~group();
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  template <class F, class... Args>
  task_ref spawn(F&& f, const Args&... args) {
    return detail::create(*scope_, {}, detail::bind_accesses(std::forward<F>(f), args...), args...);
  }
  /// Waits for all tasks of the group; throws the first exception. The group can then be used again.
  void wait();
  void cancel() noexcept;
  bool cancelled() const noexcept;

 private:
  detail::scope* scope_;
};

}  // namespace kith
