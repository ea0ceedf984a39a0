// Tasks: how to create them, order them, wait for them.
#pragma once

#include <kith/access.hpp>
#include <kith/detail/call_check.hpp>
#include <kith/detail/creation.hpp>
#include <kith/error.hpp>
#include <kith/options.hpp>

#include <type_traits>
#include <utility>

namespace kith {

/// Creates a child of the running task. `f` is copied or moved into the task. `args` are accesses (`in(x)`,
/// `out(x)`, ..., access_lists), `after(task)`, a `task_type` or `name`, `color`, `node`, `priority`, `work`, in
/// any order. A wrong call does not compile, and the compiler's first error says what to write.
///
/// As far as their accesses say, siblings behave as if they ran in the order of their creation. The task may have
/// started, or even ended, when spawn returns. Short tasks run inside spawn (runtime_options::inline_limit): the
/// creator must hold no mutex that the task takes, and the task must not wait for anything that its creator does later.
/// Once it has as many unfinished tasks as the throttle allows (runtime_options), the creator first runs other tasks.
/// Throws `error` if the thread runs no task, or an access crosses another one.
///
/// Whatever the task accesses or captures by reference must outlive it. The local variables of the creating
/// function do so only if that function calls wait().
///
/// When `f` has returned and all its children have ended, `f` is destroyed with its captures. What their destructors
/// create are children of this task, too. With the last of those the task ends, and tasks that come after it may start.
/// An exception of `f`, or of a child that `f` did not wait for, is thrown where the task is waited for.
template <class F, class... Args>
[[gnu::always_inline]] inline task_ref spawn(F&& f, const Args&... args) {
  if constexpr (detail::is_task_call<F, Args...>()) {
    return detail::create(detail::running_task(), detail::bind_accesses(std::forward<F>(f), args...), args...);
  } else {
    return {};
  }
}

/// Waits until all children of the running task have ended, and runs tasks meanwhile. Continues on the same
/// thread. Throws the first exception of a child, whose siblings that have not started are cancelled. Throws
/// `error` if the thread runs no task, or if no stack is left for the tasks that should run meanwhile
/// (runtime_options::stacks): children that have not started are then cancelled, and all others have ended.
void wait();
/// A call with a task or a future: the compiler says what to write.
template <class T>
  requires(detail::has_task<T> || std::is_same_v<T, task_ref>)
void wait(const T&) {
  static_assert(sizeof(T) == 0,
                "wait takes no task, it waits for all children of the running one; write f.wait() or f.get() for the "
                "future of one task, as kith::async returns it");
}

/// Whether the running task's scope, or one around it, was cancelled. Long tasks may ask, and end early.
bool cancelled() noexcept;
/// Cancels the scope that the running task belongs to. Siblings and their descendants that have not started are
/// skipped; those that have started are not stopped. This is not an error: wait() then returns normally. A task
/// that was submitted from outside and the function of runtime::run() have no siblings: they cancel their own children,
/// also those that they create later, until the next wait(). From a part of such a task that another worker runs (a
/// half of a join, a share of a loop), the call reaches only what that part creates.
void cancel() noexcept;

/// The worker that runs the calling task, 0..workers-1; -1 outside of tasks.
int this_worker() noexcept;

namespace detail {
class group_of_parts;
}  // namespace detail

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
  /// Tasks of the group that have not started will not run, nor will what they would create; those that run are not
  /// stopped. Thread-safe, as is cancelled(), while the group lives.
  void cancel() noexcept;
  /// Whether the group or a scope around it is cancelled: by a call, or by an exception of one of its tasks.
  bool cancelled() const noexcept;

 private:
  friend class pending_tasks;
  friend class detail::group_of_parts;
  detail::scope* scope_;
  const int unwinding_;  // std::uncaught_exceptions() when the group was made
};

namespace detail {

/// A group whose tasks stand for parts of the task that made it: halves of a join, or shares of a loop. What belongs to
/// that task, such as its groups and its siblings, belongs to them, too.
class group_of_parts : public group {
 public:
  group_of_parts();
};

}  // namespace detail

}  // namespace kith
