// Tasks: how to create them, order them, wait for them.
#pragma once

#include <kith/access.hpp>
#include <kith/call_check.hpp>
#include <kith/error.hpp>
#include <kith/options.hpp>

#include <cstdint>
#include <functional>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

enum class action : std::uint8_t {
  run,
  discard,   // destroys the closure of a task that has ended or will not run
  rehearse,  // runs the closure so that it can be run again; only for calibration
  fail,      // the task ran, then one of its children failed with std::current_exception()
};
enum class outcome : std::uint8_t {
  ended,      // the closure is destroyed
  held,       // the closure ran; discard it when the task has ended, that is, after its children
  again,      // the task has named what else it waits for (node_phase); run it again after that
  generated,  // as ended; the task has made further tasks (node_phase)
  unable,  // nothing was done: the closure cannot be rehearsed (running it changes it), or no future takes the failure
};
using task_code = outcome (*)(void* closure, action);

struct draft {
  void* task;
  void* closure;
};
class scope;

/// The scope that new tasks of this thread belong to. Throws if the thread runs no task.
scope& current_scope();
/// Begins a task and returns the room for its closure. The caller must then call exactly one of submit() and
/// abandon().
draft begin(scope&, std::size_t closure_bytes, std::size_t closure_align, std::size_t accesses);
task_ref submit(scope&, const draft&, task_code, std::span<const access_record>, std::span<const task_ref>,
                const hints&);
void abandon(scope&, const draft&) noexcept;

/// A group in which the running task creates a task. The running task owns the group or belongs to it.
class filled_group {
 public:
  explicit filled_group(scope& tasks) noexcept : tasks_(tasks) {}
  /// Throws unless the running task may create a task with these numbers of accesses and predecessors. Must be
  /// called first.
  void admit(std::size_t accesses, std::size_t predecessors);
  scope& tasks() const noexcept { return tasks_; }
  /// The worker (native::worker) that runs the creating task if that belongs to the group; null if the owner
  /// creates.
  void* member() const noexcept { return member_; }

 private:
  scope& tasks_;
  void* member_ = nullptr;
};
draft begin(const filled_group&, std::size_t closure_bytes, std::size_t closure_align, std::size_t accesses);
task_ref submit(const filled_group&, const draft&, task_code, std::span<const access_record>, std::span<const task_ref>,
                const hints&);
void abandon(const filled_group&, const draft&) noexcept;

/// The code of every task whose closure has type F. A closure that throws is also held.
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

/// f bound to the parameters of its accesses, if it takes them; else f itself.
template <class F, class... P>
auto bind_parameters(F&& f, P... p) {
  using body = std::decay_t<F>;
  constexpr bool any = sizeof...(P) != 0;
  if constexpr (any && std::is_invocable_v<const body&, decltype(parameter(p))...>) {
    return [f = body(std::forward<F>(f)), p...]() { return std::invoke(f, parameter(p)...); };
  } else if constexpr (any && std::is_invocable_v<body&, decltype(parameter(p))...>) {
    return [f = body(std::forward<F>(f)), p...]() mutable { return std::invoke(f, parameter(p)...); };
  } else {
    return body(std::forward<F>(f));
  }
}

template <class... Args>
auto bind_accesses(auto&& f, const Args&... args) {
  [[maybe_unused]] auto pick = []<class A>(const A& a) {
    if constexpr (is_access<A>) {
      return std::make_tuple(internals::parameter(a));
    } else {
      return std::tuple<>();
    }
  };
  return std::apply([&](auto... p) { return bind_parameters(std::forward<decltype(f)>(f), p...); },
                    std::tuple_cat(pick(args)...));
}

/// A list of items. The arguments' types give its length, or (`Open`) only their values do.
template <class T, std::size_t Most, bool Open>
struct gathered {
  T items[Most + 1];
  std::size_t count = 0;
  void add(const T& item) noexcept { items[count++] = item; }
  std::span<const T> all() const noexcept { return {items, count}; }
};
template <class T, std::size_t Most>
struct gathered<T, Most, true> {
  std::vector<T> items;
  void add(const T& item) { items.push_back(item); }
  std::span<const T> all() const noexcept { return items; }
};

/// What a task declares, gathered from the arguments of spawn().
template <class... Args>
struct declaration {
  template <class... Kinds>
  static constexpr std::size_t number = (std::size_t{0} + ... + std::size_t{one_of<Args, Kinds...>});
  static constexpr std::size_t accesses = (std::size_t{0} + ... + std::size_t{is_access<Args>});

  gathered<access_record, accesses, number<access_list> != 0> records;
  gathered<task_ref, number<after>, number<after_all> != 0> before;
  hints h;

  explicit declaration(const Args&... args) { (add(args), ...); }

  template <class P>
  void add(const access<P>& a) {
    records.add(internals::record(a));
  }
  void add(const access_list& l) {
    for (const access_record& r : l.records()) records.add(r);
  }
  void add(after a) { before.add(a.task); }
  void add(const after_all& a) {
    for (task_ref t : a.tasks) before.add(t);
  }
  template <hint H>
  void add(const H& said) {
    detail::apply(h, said);
  }
};

/// `In` is a scope that the caller owns, or a filled_group.
template <class In, class F, class... Args>
task_ref create(In&& in, F&& closure, const Args&... args) {
  using body = std::decay_t<F>;
  const declaration<Args...> declared(args...);
  if constexpr (std::is_same_v<std::decay_t<In>, filled_group>)
    in.admit(declared.records.all().size(), declared.before.all().size());
  const draft d = begin(in, sizeof(body), alignof(body), declared.records.all().size());
  try {
    ::new (d.closure) body(std::forward<F>(closure));
  } catch (...) {
    abandon(in, d);
    throw;
  }
  return submit(in, d, &code_of<body>, declared.records.all(), declared.before.all(), declared.h);
}

}  // namespace detail

/// Creates a child of the running task. `f` is copied or moved into the task. `args` are accesses (`in(x)`,
/// `out(x)`, ..., access_lists), `after(task)`, a `task_type` or `name`, `color`, `node`, `priority`, `work`, in
/// any order. A wrong call does not compile, and the compiler's first error says what to write.
///
/// As far as their accesses say, siblings behave as if they ran in the order of their creation. The task may have
/// started, or even ended, when spawn returns. At the throttle (runtime_options) the creator first runs other
/// tasks. Throws `error` if the thread runs no task, or an access crosses another one.
///
/// Whatever the task accesses or captures by reference must outlive it. The local variables of the creating
/// function do so only if that function calls wait().
///
/// The task ends when `f` has returned and all its own children have ended. Then `f` is destroyed with its
/// captures, and tasks that come after it may start. An exception of `f`, or of a child that `f` did not wait
/// for, is thrown where the task is waited for.
template <class F, class... Args>
task_ref spawn(F&& f, const Args&... args) {
  if constexpr (detail::is_task_call<F, Args...>()) {
    return detail::create(detail::current_scope(), detail::bind_accesses(std::forward<F>(f), args...), args...);
  } else {
    return {};
  }
}

/// Waits until all children of the running task have ended, and runs tasks meanwhile. Continues on the same
/// thread. Throws the first exception of a child, whose siblings that have not started are cancelled. Throws
/// `error` if the thread runs no task, or if no stack is left for the tasks that should run meanwhile
/// (runtime_options::stacks): children that have not started are then cancelled, and all others have ended.
void wait();

/// True if the running task's scope, or one around it, was cancelled. Long tasks may ask, and end early.
bool cancelled() noexcept;
/// Cancels the scope that the running task belongs to. Siblings and their descendants that have not started are
/// skipped; those that have started are not stopped. This is not an error: wait() then returns normally. A task
/// that was submitted from outside has no siblings; it cancels its own children.
void cancel() noexcept;

/// The worker that runs the calling task, 0..workers-1; -1 outside of tasks.
int this_worker() noexcept;

/// Tasks that are waited for, and cancelled, together. Their accesses order them among each other, but not
/// against tasks outside the group. One task owns the group: it makes it, creates tasks in it, waits for it and
/// destroys it. The group's tasks and their descendants may also create tasks in it, but without accesses and
/// predecessors, because their order of creation is not defined. Any thread may call cancel() and cancelled()
/// while the group lives. The constructor throws `error` if the thread runs no task. If another task destroys the
/// group, the program ends, since that task might have to wait for itself.
class group {
 public:
  group();
  /// Waits for all tasks of the group. An exception that wait() did not throw goes to the enclosing scope.
  ~group();
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  /// As kith::spawn(). Throws `error` if the running task neither owns the group nor belongs to it, if a task
  /// that belongs to it names accesses or predecessors, and if the thread runs no task.
  template <class F, class... Args>
  task_ref spawn(F&& f, const Args&... args) {
    if constexpr (detail::is_task_call<F, Args...>()) {
      return detail::create(detail::filled_group(*scope_), detail::bind_accesses(std::forward<F>(f), args...), args...);
    } else {
      return {};
    }
  }
  /// Waits for all tasks of the group and throws their first exception. The group can then be used again. Throws
  /// `error` if the running task does not own the group.
  void wait();
  void cancel() noexcept;
  bool cancelled() const noexcept;

 private:
  detail::scope* scope_;
  const int unwinding_;  // std::uncaught_exceptions() when it was made
};

}  // namespace kith
