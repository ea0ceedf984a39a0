// What a wait does when no stack is left for the tasks that should run meanwhile: it is refused, which means that it
// ends with an error (docs/decisions/waits-switch-stacks.md). Its tasks that have not started are cancelled, and the
// others are awaited; so a refused wait may use stacks beyond the limit.
#include "base/fence.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/step.hpp"
#include "engine/native/worker.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace kith::native {

/// Refuses the wait, because no stack is left for the tasks that it should run. It ends with an error as soon as all
/// started children have ended; the others are cancelled, and left alone.
void worker::refuse_stack(pending_wait& w, detail::scope* children) {
  w.refused = true;
  w.refusal =
      std::string(w.name) +
      ": no stack is left for the tasks that are to run meanwhile: " + std::to_string(suspended_.size()) +
      " waits of worker " + std::to_string(id.value) + " have one each" +
      (suspended_.size() >= engine.options.stacks
           ? ", and that is the limit; raise KITH_STACKS (runtime_options::stacks)"
           : ", and the system gives no more; see /proc/sys/vm/max_map_count and `ulimit -v`, or lower KITH_STACK") +
      ", or wait in fewer nested tasks";
  if (w.scope != nullptr) {
    w.scope->cancel();
    process_fence();  // a task that is seen unstarted from here on will see the cancellation when it starts
  } else {
    if (children != nullptr) children->cancel();
    w.done = [](const void*) { return true; };
  }
}

/// Whether the wait was refused and only tasks that have not started are left of those that it waits for. The
/// scope's list has all tasks that have not started.
bool worker::only_unstarted_left(const pending_wait& w) const noexcept {
  if (!w.refused || w.scope == nullptr || !w.scope->listed) return false;
  const auto is_unstarted = [&](reference r) {
    const task& t = engine.space[r.index];
    const task_state s = t.state.load(relaxed);
    return edges::generation_of(t.head.load(relaxed)) == r.generation &&
           (s == task_state::created || s == task_state::queued);
  };
  return w.scope->unfinished() == static_cast<std::uint64_t>(std::ranges::count_if(w.scope->children, is_unstarted));
}

/// Ends the cancelled tasks that are queued. True if the remaining tasks of the wait will never start.
bool worker::give_up(const pending_wait& w) {
  if (w.scope == nullptr || !w.scope->listed) return false;
  while (task* const t = claim_child(*w.scope, true)) requeue(run(*t));
  report();
  return only_unstarted_left(w);
}

/// Leaves the scope's cancelled tasks alone. They end when they come out of their queues; no task waits for that.
void worker::abandon(detail::scope& s) {
  s.forget_names();
  if (s.abandon()) give_scope(s);
}

/// Called when what the policy gives first can run nowhere, but the wait may be for what comes after it. Ends the
/// cancelled tasks that are queued, whose bodies do not run, up to one that may run on top of the wait. The others are
/// queued again at the end. Nothing may be claimed, because a claimed task cannot be set aside.
task* worker::find_past_others(const pending_wait& w, bool has_room) {
  task *t = nullptr, *others = nullptr;
  while (t != nullptr || (t = find_anywhere()) != nullptr) {
    if (has_room && may_run_here(*t, w)) break;
    if (t->scope->is_cancelled()) {
      t = run(*t);
    } else {
      set_next(*t, others);
      others = std::exchange(t, nullptr);
    }
  }
  while (others != nullptr) requeue(std::exchange(others, get_next(*others)));
  return t;
}

/// Called when a wait on this worker must end early, so that its stack becomes free. Refuses the newest suspended wait
/// that can be refused; false if there is none.
bool worker::refuse_newest_suspended() {
  for (std::size_t i = suspended_.size(); i-- > 0;) {
    pending_wait& w = *suspended_[i]->wait;
    if (w.refused || w.unrefusable || w.runs_any_task || w.helping || (w.scope != nullptr && !w.scope->listed))
      continue;
    refuse_stack(w, nullptr);  // null: its children are cancelled when the error leaves their parent
    return true;
  }
  return false;
}

}  // namespace kith::native
