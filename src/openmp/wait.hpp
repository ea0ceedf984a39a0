// How the code of a team waits. At a task scheduling point its worker runs tasks meanwhile; in the waits for locks and
// for turns it runs none. OpenMP's task scheduling constraint holds: on top of a waiting task a worker starts only
// tasks below it. Others might want a mutex that it holds, or change its thread's variables. At a barrier any task may
// run.
#pragma once

#include <kith/detail/creation.hpp>
#include <kith/options.hpp>

namespace kith::detail {
class scope;
}
namespace kith::native {
class worker;
}

namespace kith::openmp {

class team;

/// detail::begin() and detail::submit() for a task of the running one. A creator that is far ahead helps there, as in a
/// wait.
detail::draft begin_task(const detail::task_room&);
task_ref submit_task(const detail::draft&, detail::task_code, const detail::declared&);

/// Waits for the tasks that the running task has made, and for their descendants, and runs only these. For `taskwait`
/// that is more than OpenMP asks for, which waits for the children alone.
void wait_for_children();
/// The same at a barrier: runs any tasks.
void wait_for_children_at_barrier();
/// Returns once done(what) holds, which one of the running task's children makes true; runs only these and tasks below
/// them. Visibility as with block_until(). Only in teams with workers.
void wait_among_children(bool (*done)(const void*), const void* what);
template <class Done>
void wait_among_children(const Done& done) {
  wait_among_children([](const void* d) { return (*static_cast<const Done*>(d))(); }, &done);
}

/// While it lives, the running code is the body of a task that the code before has made, and that runs here and now.
/// Only in teams with workers.
class runs_as_child {
 public:
  runs_as_child() noexcept;
  ~runs_as_child();
  runs_as_child(const runs_as_child&) = delete;
  runs_as_child& operator=(const runs_as_child&) = delete;

 private:
  native::worker& on_;
  detail::scope* const outer_;
};

/// Returns once done(what) holds; what another thread wrote before it made that true is then visible, if it wrote with
/// release and `done` reads with acquire. Runs nothing meanwhile: this is no task scheduling point.
void block_until(team&, bool (*done)(const void*), const void* what);
template <class Done>
void block_until(team& in, const Done& done) {
  block_until(in, [](const void* d) { return (*static_cast<const Done*>(d))(); }, &done);
}

/// Returns once done(what) holds, after all tasks of the team have ended: they run on top of the wait. Visibility as
/// with block_until(). Only in teams with workers.
void wait_until_all_ended(bool (*done)(const void*), const void* what);
template <class Done>
void wait_until_all_ended(const Done& done) {
  wait_until_all_ended([](const void* d) { return (*static_cast<const Done*>(d))(); }, &done);
}

/// Lets the members of the team that wait until all have ended look again. Whoever makes a `done` true calls it
/// afterwards. Cheap if nobody waits.
void wake_waiting(team&) noexcept;

}  // namespace kith::openmp
