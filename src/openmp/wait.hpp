// How the code of a team waits: its worker runs tasks meanwhile. While the running task holds a lock, these are only
// tasks that it waits for, because others might wait for the lock on top of it.
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

/// Waits for the tasks that the running task has made, and for their descendants. For `taskwait` that is more than
/// OpenMP asks for, which waits for the children alone.
void wait_for_children();

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
/// release and `done` reads with acquire. Only in teams with workers. The task that will make it true, if it is known,
/// may run on top of the wait; all others run on other stacks meanwhile.
void wait_until(bool (*done)(const void*), const void* what, task_ref awaited = {});
template <class Done>
void wait_until(const Done& done, task_ref awaited = {}) {
  wait_until([](const void* d) { return (*static_cast<const Done*>(d))(); }, &done, awaited);
}

/// The same where all tasks of the team must end before the wait does: they run on top of it.
void wait_until_all_ended(bool (*done)(const void*), const void* what);
template <class Done>
void wait_until_all_ended(const Done& done) {
  wait_until_all_ended([](const void* d) { return (*static_cast<const Done*>(d))(); }, &done);
}

/// Lets the members of the team that wait look again. Whoever makes a `done` true calls it afterwards. Cheap if nobody
/// waits.
void wake_waiting(team& in) noexcept;

}  // namespace kith::openmp
