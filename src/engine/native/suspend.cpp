// How a worker leaves the stack of a wait, and comes back. suspended_ has each stack that was left. They are checked
// between two tasks: the newest ones each time, the others in turn, all of them before the worker sleeps. A wait stays
// there until the code that switches back to it removes it. suspend() is the only way to leave a stack, and keeps on it
// what belongs to it: the running task, its scopes, the lane, the names that the task gives.
#include "base/access_tracer.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/worker.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace kith::native {

/// Leaves this stack by leave_stack(suspended_wait&), which returns true when the worker comes back; false if
/// it could not leave.
template <class Switch>
bool worker::suspend(pending_wait& w, const Switch& leave_stack) {
  suspended_wait here;
  here.wait = &w;
  suspended_.push_back(&here);
  const bool announces_wait = w.scope != nullptr && w.scope->waiting.load(relaxed) != waiting_outside;
  if (announces_wait)  // until the wait continues (C2 of scope.hpp)
    w.scope->waiting.store(static_cast<std::uint32_t>(id.value) + 1, relaxed);
  task* const my_running = running;
  detail::scope* const my_scope = task_scope;
  detail::scope* const my_children = children_scope;
  const std::uintptr_t my_limit = stack_limit;
  const identity::naming_state my_naming = naming;
  lane* const my_lane = lane_;
  on_stack* const my_stack = exchange_stack(nullptr);
  const bool stayed = std::exchange(stays_, false);
  void* const my_trace = addresses != nullptr ? the_access_tracer()->current() : nullptr;
  const bool left = leave_stack(here);
  if (!left) suspended_.pop_back();  // else the code that switched back has removed it
  running = my_running;
  task_scope = my_scope;
  children_scope = my_children;
  stack_limit = my_limit;
  stays_ = stayed;
  naming = my_naming;
  set_lane(my_lane);
  exchange_stack(my_stack);
  if (addresses != nullptr) the_access_tracer()->resume(my_trace);
  if (announces_wait) w.scope->waiting.store(0, relaxed);
  return left;
}

/// A suspended wait that may continue; null if none was found. With `idle` (there is nothing to run), also a
/// creator that helps at the throttle.
suspended_wait* worker::ready_to_go_on(bool look_at_all, bool idle) {
  const std::size_t count = suspended_.size();
  if (count == 0 || stays_) return nullptr;
  const std::size_t found = suspended_turn_.find(count, look_at_all, [&](std::size_t i) {
    const pending_wait& w = *suspended_[i]->wait;
    return w.is_done() || (idle && w.helping) || only_unstarted_left(w);
  });
  return found != count ? suspended_[found] : nullptr;
}

/// False at the limit. A refused wait may exceed it: it ends as soon as its started tasks have ended, and these may
/// wait for tasks that only this worker can run. A wait that cannot be refused may exceed it as well.
bool worker::may_leave_stack(const pending_wait& w) const noexcept {
  if (stays_ && may_nest()) return false;
  return suspended_.size() < (w.refused || w.unrefusable ? 2 * engine.options.stacks + 16 : engine.options.stacks);
}

/// Leaves this stack for a fresh one, which runs `t` (if not null) and further tasks until a wait may continue.
/// Returns false and does nothing at the limit, or if the system gives no stack.
bool worker::go_elsewhere(pending_wait& w, task* t) {
  if (!may_leave_stack(w)) return false;
  carried_ = t;
  return suspend(w, [this](suspended_wait& here) {
    return stacks_.leave_for_fresh(
        here, [](void* self) -> suspended_stack& { return static_cast<worker*>(self)->serve_fresh_stack(); }, this);
  });
}

/// Leaves this stack for that of the wait in w.resumable.
void worker::go_on_with(pending_wait& w) {
  suspended_wait& other = *std::exchange(w.resumable, nullptr);
  std::erase(suspended_, &other);
  engine.policy.idle(*this);
  report();  // C1 of scope.hpp
  suspend(w, [&](suspended_wait& here) {
    stacks_.leave_for(here, other);
    return true;
  });
}

/// The body of a fresh stack: runs tasks until a wait may continue.
suspended_stack& worker::serve_fresh_stack() {
  const on_stack base(*this);
  running = nullptr;
  task_scope = children_scope = nullptr;
  naming = {};
  stack_limit = nesting_limit(stacks_.lowest());
  set_lane(nullptr);
  if (addresses != nullptr) the_access_tracer()->resume(nullptr);
  const auto never = [] { return false; };
  pending_wait w(never);
  w.runs_any_task = w.is_stack_bottom = true;
  if (half_.it != nullptr) run_half();
  work_until(w, std::exchange(carried_, nullptr));
  close_lane();
  std::erase(suspended_, w.resumable);
  return *w.resumable;
}

void worker::finish_suspended() {
  const pending_wait* mine = nullptr;
  const auto no_other_is_left = [&] {
    return std::ranges::all_of(suspended_, [&](const suspended_wait* s) { return s->wait == mine; });
  };
  pending_wait w(no_other_is_left);
  mine = &w;
  w.runs_any_task = true;
  work_until(w, nullptr);
}

}  // namespace kith::native
