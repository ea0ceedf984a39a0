// How a worker waits: it runs other tasks, on top of the wait if they cannot delay it, else on another stack.
//
// A task may run on top of a wait only if the wait cannot end before the task does: it is what the wait is for,
// or a descendant of it. All other tasks run on another stack, so that the wait continues as soon as possible,
// whatever they wait for. Each stack that was left is in suspended_ and is checked between two tasks: the
// newest ones each time, the others in turn, all of them before the worker sleeps.
#include "base/fence.hpp"
#include "engine/life/claim.hpp"
#include "engine/life/ready_again.hpp"
#include "engine/life/throttle.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/find.hpp"
#include "engine/native/recorder.hpp"
#include "engine/native/worker.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace kith::native {

/// A wait whose stack was left.
struct suspended_wait : suspended_stack {
  pending_wait* wait;
};

[[gnu::always_inline]] inline bool worker::may_run_here(const task& t, const pending_wait& w) const noexcept {
  return t.scope == w.scope || w.runs_any_task || is_below(t, w);
}

bool worker::is_below(const task& t, const pending_wait& w) const noexcept {
  if (w.scope != nullptr) {
    if (t.scope->is_within(*w.scope, life::known_levels)) return true;
  } else if (w.awaited) {
    const bool is_it = engine.space.index_of(t) == w.awaited.index &&
                       edges::generation_of(t.head.load(relaxed)) == w.awaited.generation;
    if (is_it || t.scope->is_below(w.awaited, life::known_levels)) return true;
  }
  // The entry of a claimed task is only dropped, so it may run anywhere. Its scope may have been reused.
  return (t.flags & task::claimable) != 0 && &t != claimed_ && life::is_dead(t.state);
}

void worker::wait_for(detail::scope*& waited, const char* name, task* first) {
  detail::scope& s = *waited;
  ++naming.waits;
  const std::uint64_t began = log != nullptr ? ticks() : 0;
  pending_wait w{[](const void* tasks) { return static_cast<const detail::scope*>(tasks)->unfinished() == 0; }, &s};
  w.scope = &s;
  w.may_claim_children = s.listed;
  w.until_scope_empty = true;
  w.name = name;
  const auto end = [&] {
    if (log != nullptr) [[unlikely]]
      log->waited(running_ref(), s.serial, began);
    if (s.unfinished() != 0) {  // no stack was left
      waited = nullptr;
      leave_alone(s);
    } else if (!s.phased) {
      s.emptied();  // a graph's scope may be waited for again, and stays as it is
    }
  };
  try {
    work_until(w, first);
  } catch (...) {
    end();
    throw;
  }
  end();
}

void worker::work_until(pending_wait& w, task* first) {
  const above_halves tasks_run_on_top(lane_, running);
  const uncounted waits(counts);
  w.adopted_from = adopted_.size();
  if (!w.runs_any_task && !w.is_done()) sums.add(event::stalled);
  const bool has_room = w.runs_any_task || may_nest();
  task* t = first;
  while (!w.is_done()) {
    // A claimed task cannot be given back, and runs before others are claimed.
    if (w.refused && claimed_ == nullptr && give_up(w)) [[unlikely]]
      break;
    if (!suspended_.empty() && claimed_ == nullptr) [[unlikely]] {
      if (w.resumable == nullptr) w.resumable = ready_to_go_on();
      if (w.resumable != nullptr) {
        requeue(std::exchange(t, nullptr));
        if (w.is_stack_bottom) break;
        go_on_with(w);
        continue;
      }
    }
    if (t == nullptr && has_room && (t = find(w)) == nullptr) {
      t = search_or_park(w);
      if (half_.it != nullptr) [[unlikely]]
        run_taken_half(w);
      continue;
    }
    if (has_room && may_run_here(*t, w)) [[likely]] {
      t = run_measured(*t);
    } else if (go_elsewhere(w, t)) {
      t = nullptr;
    } else if (!w.refused && !w.unrefusable) {
      requeue(std::exchange(t, nullptr));  // give_up() claims others
      refuse_stack(w, children_scope);
    } else {  // nothing can run here now: another wait of this worker must end, or other workers make progress
      requeue(std::exchange(t, nullptr));
      report();
      w.resumable = ready_to_go_on(true, true);
      if (w.resumable == nullptr && !refuse_newest_suspended() && (t = find_past_others(w, has_room)) == nullptr)
        std::this_thread::yield();
    }
  }
  requeue(t);
  engine.policy.idle(*this);
  report();  // C1: the code that waited continues, and may take long
  if (w.refused) [[unlikely]]
    throw error(w.refusal, error_kind::resources);
}

void worker::requeue(task* t) {
  while (t != nullptr && t == claimed_) t = run(*t);
  const auto ready = [this](std::span<task* const> tasks, ready_reason why) { return make_ready(tasks, why); };
  if (task* const unqueued = life::give_back(t, ready)) engine.arrive(*unqueued);
}

[[gnu::always_inline]] inline task* worker::run_measured(task& t) {
  return until_measure_-- != 0 ? run(t) : run_sampled(t);
}

[[gnu::noinline]] task* worker::run_sampled(task& t) {
  until_measure_ = measure_interval;
  const bool timed = t.exploring == 0 && (engine.policy.observes_time() || at_creation == runs_at_creation::short_ones);
  const std::uint64_t from = ticks();
  task* next = timed ? run_in_full(t, true) : run(t);
  const std::uint64_t took = std::min<std::uint64_t>(ticks() - from, 1 << 20);
  mean_ticks_ = static_cast<std::uint32_t>((std::uint64_t{mean_ticks_} * 3 + took) / 4);
  short_tasks = mean_ticks_ < engine.distance.short_task();
  engine.distance.publish(id);
  // Looks into the inbox in spite of other work.
  if (until_inbox_ != 0) --until_inbox_;
  if (until_inbox_ != 0 || next != nullptr) return next;
  until_inbox_ = inbox_interval;
  return drain_inbox();
}

// ---- stacks

/// Leaves this stack by leave_stack(suspended_wait&), which returns true when the worker comes back; false if
/// it could not leave.
template <class Switch>
bool worker::suspend(pending_wait& w, const Switch& leave_stack) {
  suspended_wait here;
  here.wait = &w;
  suspended_.push_back(&here);
  const bool announces_wait = w.scope != nullptr && w.scope->waiting.load(relaxed) != waiting_outside;
  if (announces_wait)
    w.scope->waiting.store(static_cast<std::uint32_t>(id.value) + 1, relaxed);  // C2: until the wait continues
  task* const my_running = running;
  detail::scope* const my_scope = task_scope;
  detail::scope* const my_children = children_scope;
  const std::uintptr_t my_limit = stack_limit;
  const identity::naming_state my_naming = naming;
  lane* const my_lane = lane_;
  void* const my_trace = addresses != nullptr ? the_access_tracer()->current() : nullptr;
  const bool left = leave_stack(here);
  if (!left) suspended_.pop_back();  // else the code that switched back has removed it
  running = my_running;
  task_scope = my_scope;
  children_scope = my_children;
  stack_limit = my_limit;
  naming = my_naming;
  set_lane(my_lane);
  if (addresses != nullptr) the_access_tracer()->resume(my_trace);
  if (announces_wait) w.scope->waiting.store(0, relaxed);
  return left;
}

/// A suspended wait that may continue; null if none was found. With `idle` (there is nothing to run), also a
/// creator that helps at the throttle.
suspended_wait* worker::ready_to_go_on(bool look_at_all, bool idle) {
  const std::size_t count = suspended_.size();
  if (count == 0) return nullptr;
  const std::size_t found = suspended_turn_.find(count, look_at_all, [&](std::size_t i) {
    const pending_wait& w = *suspended_[i]->wait;
    return w.is_done() || (idle && w.helping) || only_unstarted_left(w);
  });
  return found != count ? suspended_[found] : nullptr;
}

/// False at the limit. A refused wait may exceed it: it ends as soon as its started tasks have ended, and these may
/// wait for tasks that only this worker can run. So may one that cannot be refused.
bool worker::may_leave_stack(const pending_wait& w) const noexcept {
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

/// Leaves this stack for that of the wait in w.other.
void worker::go_on_with(pending_wait& w) {
  suspended_wait& other = *std::exchange(w.resumable, nullptr);
  std::erase(suspended_, &other);
  engine.policy.idle(*this);
  report();  // C1
  suspend(w, [&](suspended_wait& here) {
    stacks_.leave_for(here, other);
    return true;
  });
}

/// The body of a fresh stack: runs tasks until a wait may continue.
suspended_stack& worker::serve_fresh_stack() {
  running = nullptr;
  task_scope = children_scope = nullptr;
  naming = {};
  stack_limit = nesting_limit(stacks_.lowest());
  set_lane(nullptr);
  if (addresses != nullptr) the_access_tracer()->resume(nullptr);
  pending_wait w{[](const void*) { return false; }, nullptr};
  w.runs_any_task = w.is_stack_bottom = true;
  if (half_.it != nullptr) run_half();
  work_until(w, std::exchange(carried_, nullptr));
  close_lane();
  std::erase(suspended_, w.resumable);
  return *w.resumable;
}

void worker::finish_suspended() {
  struct others {
    const std::vector<suspended_wait*>* suspended;
    const pending_wait* mine;
  } what{&suspended_, nullptr};
  pending_wait w{[](const void* p) {
                   const others& o = *static_cast<const others*>(p);
                   return std::ranges::all_of(*o.suspended, [&](const suspended_wait* s) { return s->wait == o.mine; });
                 },
                 &what};
  what.mine = &w;
  w.runs_any_task = true;
  work_until(w, nullptr);
}

/// No stack is left for the tasks that the wait should run. The wait ends with an error as soon as all started
/// children have ended; the others are cancelled, and left alone.
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
    return edges::generation_of(t.head.load(acquire)) == r.generation &&
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
void worker::leave_alone(detail::scope& s) {
  s.forget_names();
  if (s.leave_alone()) give_scope(s);
}

/// What the policy gives first can run nowhere now, but a wait may be for what comes after that: ends the cancelled
/// tasks that are queued, whose bodies do not run, up to one that may run on top of the wait. The others are queued
/// again, in the end. Nothing may be claimed: it could not be set aside.
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

/// A wait on this worker must end early, so that its stack becomes free. Refuses the newest suspended wait that
/// can be refused; false if there is none.
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

void worker::help(detail::scope& s) {
  const bool exceeded = help_until_few(s, true);
  // not_ended_here() still counts tasks that other workers have ended. The next check comes when it has grown
  // by `left`.
  const std::uint64_t left = life::throttle(engine.options.throttle).owner_goes_on_for(s.unfinished(), exceeded);
  const std::uint64_t now = s.not_ended_here();
  s.throttle_at = left > ~now ? ~std::uint64_t{0} : now + left;
}

void worker::help_to_fill(detail::scope& s) {
  if (engine.options.throttle == 0 || unthrottled_-- != 0) return;
  const life::throttle bound(engine.options.throttle);
  unthrottled_ = bound.member_goes_on_for(false);  // also for tasks that run meanwhile
  if (bound.is_reached(s.unfinished())) unthrottled_ = bound.member_goes_on_for(help_until_few(s, false));
}

/// Runs tasks until half the bound is left, or until there was nothing to run for a while. True if too many are
/// still left. With `on_top`, tasks of the scope run on top of the creator, which is the parent of all of them.
bool worker::help_until_few(detail::scope& s, bool on_top) {
  const life::throttle bound(engine.options.throttle);
  const std::uint64_t bytes = on_top ? engine.options.throttle_bytes : 0;  // tasks of a group have no accesses
  auto over = [&] { return bound.is_reached(s.unfinished()) || (bytes != 0 && s.unfinished_bytes() >= bytes); };
  if (over()) sums.add(event::throttled);
  const above_halves tasks_run_on_top(lane_, running);
  const uncounted waits(counts);
  const bool all = on_top && std::exchange(drains_, false);  // a task of a group never sees the group empty
  const std::uint64_t few = all ? 1 : bound.low_mark();
  const auto below_low_mark = [&s, few, bytes] {
    return s.unfinished() < few && (bytes == 0 || s.unfinished_bytes() < bytes - bytes / 2);
  };
  // Others ask a copy, so that the condition that the loop asks stays in registers.
  const auto condition_for_resumers = below_low_mark;
  pending_wait w{[](const void* d) { return (*static_cast<decltype(&below_low_mark)>(d))(); }, &condition_for_resumers};
  w.scope = on_top ? &s : nullptr;
  w.may_claim_children = on_top && s.listed;
  w.helping = true;
  w.adopted_from = adopted_.size();
  task* t = nullptr;
  int failed_searches = 0;
  bool waiting_announced = false;
  const bool has_room = may_nest();
  while (!below_low_mark()) {
    if (!has_room && !may_leave_stack(w)) break;  // what is claimed must run
    if (t == nullptr && (t = find(w)) == nullptr) {
      report();
      pause();
      if (++failed_searches < life::throttle::most_failed_searches) continue;
      if (std::exchange(waiting_announced, true)) break;
      tell_waiting(s);  // it may hold tasks back
      failed_searches = 0;
      continue;
    }
    failed_searches = 0;
    if (has_room && may_run_here(*t, w)) {
      t = run_measured(*t);
    } else if (go_elsewhere(w, t)) {
      t = nullptr;
    } else {
      break;  // no stack is left: the creator continues
    }
  }
  requeue(t);
  engine.policy.idle(*this);
  report();
  const bool exceeded = over();
  if (exceeded) sums.add(event::throttle_exceeded);
  return exceeded;
}

}  // namespace kith::native
