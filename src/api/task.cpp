// Functions that a task may call: waiting, cancelling, groups, futures, loops.
#include <kith/future.hpp>
#include <kith/parallel.hpp>
#include <kith/task.hpp>

#include "base/futex.hpp"
#include "base/steady_time.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/group.hpp"
#include "engine/native/inherited.hpp"
#include "engine/native/seat_log.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <optional>

namespace kith {

void wait() { native::worker::current_to_run("kith::wait()").wait_for_children(); }

bool cancelled() noexcept {
  const native::worker* w = native::worker::current();
  return w != nullptr && w->task_scope != nullptr && w->task_scope->is_cancelled();
}

void cancel() noexcept {
  native::worker* w = native::worker::current();
  if (w == nullptr) return;
  detail::scope* siblings = w->task_scope;
  while (siblings != nullptr && siblings->of_parts) siblings = siblings->of_maker();
  if (siblings != nullptr && !siblings->independent) return siblings->cancel();
  try {
    w->children().cancel();
  } catch (const std::bad_alloc&) {  // no child could be created either
  }
}

int this_worker() noexcept {
  const native::worker* w = native::worker::current();
  return w == nullptr ? -1 : w->id.value;
}

group::group() : unwinding_(std::uncaught_exceptions()) {
  native::worker& w = native::worker::current_to_run("a kith::group");
  scope_ = &native::open_scope(w, w.task_scope);
}

group::~group() {
  native::worker& w = static_cast<native::worker&>(*scope_->seat);
  if (w.engine.inherited()) return;  // a child of fork(): no worker ends the tasks here
  if (!native::runs_owner_of(*scope_)) {
    std::fputs(
        "kith: a group is destroyed by a task or thread that did not make it (kith::group::~group()), which would have "
        "to wait for the group's tasks. Destroy it in the task that made it, and in a coroutine before its next "
        "co_await.\n",
        stderr);
    std::abort();
  }
  // Counts only exceptions thrown since the group was made, because a destructor may use a group.
  const bool left_by_exception = std::uncaught_exceptions() > unwinding_;
  if (left_by_exception) cancel();
  try {
    if (scope_->unfinished() != 0) w.tell_waiting(*scope_);
    w.wait_for(scope_, "kith::group");
  } catch (...) {  // no stack was left for the wait
    (scope_ != nullptr ? *scope_ : w.children()).fail(std::current_exception());
  }
  if (scope_ == nullptr) return;
  if (std::exception_ptr failure = scope_->take_failure(); failure && !left_by_exception) {
    w.children().fail(std::move(failure));
  }
  give_scope(*scope_);
}

void group::wait() {
  native::worker& w = static_cast<native::worker&>(*scope_->seat);
  w.engine.refuse_inherited("group::wait()");
  if (!native::runs_owner_of(*scope_)) {
    throw error(
        "group::wait(): the caller did not make the group; expected the task that did, and not in a half of a join or "
        "after a co_await. A task of the group that waits for others can keep their futures (kith::async), or make a "
        "group of its own");
  }
  native::worker::current_to_run("group::wait()");
  if (scope_->unfinished() != 0) w.tell_waiting(*scope_);
  try {
    w.wait_for(scope_, "kith::group::wait()");
  } catch (...) {
    if (scope_ == nullptr) scope_ = &native::open_scope(w, w.task_scope);
    throw;
  }
  if (std::exception_ptr failure = scope_->take_failure()) std::rethrow_exception(std::move(failure));
}

void group::cancel() noexcept { scope_->cancel(); }
bool group::cancelled() const noexcept { return scope_->is_cancelled(); }

namespace detail {

group_of_parts::group_of_parts() { scope_->of_parts = true; }

namespace {

/// Waits as `as`, whose frames are on this stack below those of the current worker.
bool wait_as(native::worker& as, completion& ended, double seconds, made_task completer, at_stack_limit limit) {
  struct call {
    completion& ended;
    double seconds;
    made_task completer;
    at_stack_limit limit;
    bool done;
  } c{ended, seconds, completer, limit, false};
  native::worker::current()->report();  // C1 of scope.hpp: this may take long
  std::exception_ptr failure = as.run_on_top(&c, [](void* p) {
    call& mine = *static_cast<call*>(p);
    mine.done = mine.ended.wait_at_most(mine.seconds, mine.completer, mine.limit);
  });
  if (failure) std::rethrow_exception(std::move(failure));
  return c.done;
}

}  // namespace

void cancel_children() noexcept {
  const native::worker* w = native::worker::current();
  if (w != nullptr && w->children_scope != nullptr) w->children_scope->cancel();
}

void completion::wait(made_task completer, at_stack_limit limit) {
  wait_at_most(std::numeric_limits<double>::infinity(), completer, limit);
}

bool completion::wait_at_most(double seconds, made_task completer, at_stack_limit limit) {
  using steady = std::chrono::steady_clock;
  constexpr double for_ever = 1e9;  // 31 years
  native::worker* const w = native::worker::current();
  if (w != nullptr) ++w->naming.waits;          // comes first: under `replay` the wait may be over already
  if (done() || !(seconds > 0)) return done();  // NaN: no time
  if (w != nullptr && completer.runtime != 0 && completer.runtime != w->engine.number) {
    native::engine* const e = native::engine_of_number(completer.runtime);
    // The task may wait for this thread, if that is a worker of its runtime, too, further down this stack.
    if (native::worker* const mine = e != nullptr ? native::worker::find_on_stack(*e) : nullptr; mine != nullptr)
      return wait_as(*mine, *this, seconds, completer, limit);
  }
  const bool of_another = w == nullptr || (completer.runtime != 0 && completer.runtime != w->engine.number);
  if (of_another && native::never_completes(completer.runtime)) {
    throw error(
        "future: its task belongs to a runtime that was made before fork(), and runs in the parent, if at all; take "
        "the value before fork()");
  }
  const bool timed = seconds < for_ever;
  steady::time_point end;
  if (timed) end = steady::now() + std::chrono::duration_cast<steady::duration>(std::chrono::duration<double>(seconds));
  const auto over = [this, timed, end] { return done() || (timed && steady::now() >= end); };
  // The bit comes before the check of done(): by process_fence() in announce(), or by seq_cst with the futex. So
  // either complete() sees the bit, or this thread sees the completion.
  if (w != nullptr) w->awaits.store(w->awaits.load(relaxed) + 1, relaxed);
  waiters_.fetch_or(w != nullptr ? a_worker : a_thread, std::memory_order_seq_cst);
  if (w != nullptr) {
    std::optional<native::alarm_clock::alarm> at_end;
    if (timed) at_end.emplace(w->engine.alarms, end, w->id);
    const std::uint64_t began = w->log != nullptr ? ticks() : 0;
    w->tell_waiting();
    const bool order = w->engine.policy.has_gate();
    if (order) w->engine.together.begin_awaiting();
    const auto leave = [&] {
      w->awaits.store(w->awaits.load(relaxed) - 1, relaxed);
      if (order) w->engine.together.end_awaiting();
      if (w->log != nullptr) w->log->waited(w->running_ref(), 0, began);
    };
    // A task that may end later than the wait must not run on top of it. With a time limit, that is any task.
    const bool known = !timed && completer.runtime == w->engine.number;  // a task of another runtime is not known here
    const reference awaited = known ? reference::from(completer.task) : reference();
    try {
      w->work_until(over, timed ? "kith::future::wait_for()" : "kith::future::wait()", awaited, limit);
    } catch (...) {  // no stack was left for the wait
      leave();
      throw;
    }
    leave();
  } else {
    while (!over()) {
      if (timed) {
        futex_wait_until(word_, 0, steady_nanoseconds(end));
      } else {
        futex_wait(word_, 0);
      }
    }
  }
  return done();
}

void completion::complete() noexcept {
  word_.store(1, std::memory_order_seq_cst);  // pairs with done(); seq_cst: see wait_at_most()
  const std::uint32_t who = waiters_.load(std::memory_order_seq_cst);
  if ((who & a_thread) != 0) futex_wake(word_, INT_MAX);
  if ((who & a_worker) != 0) native::wake_those_that_await();
}

/// The number of shares of a loop. More shares than workers that are awake would only add work. With tasks, each worker
/// has a share, which is its color.
int worker_count() {
  const native::engine& e = native::worker::current_for("parallel loop").engine;
  return e.parked.has_bound() && loops_by() == loop_by::joins ? e.options.awake : static_cast<int>(e.workers.size());
}

loop_by loops_by() noexcept {
  const native::worker* const w = native::worker::current();
  if (w == nullptr || w->captures()) return loop_by::calls;
  return !w->needs_tasks() && w->engine.hardware.nodes.size() == 1 ? loop_by::joins : loop_by::tasks;
}

void run_apart(void* context, void (*f)(void*)) {
  if (std::exception_ptr failure = native::worker::current()->run_apart(context, f))
    std::rethrow_exception(std::move(failure));
}

std::int64_t iterations(std::int64_t begin, std::int64_t end) {
  if (end <= begin) return 0;
  // The count of dealt iterations may exceed the end by one chunk for each taker, which needs room.
  if (static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(begin) > std::uint64_t{1} << 48) {
    throw error("parallel loop: [" + std::to_string(begin) + ", " + std::to_string(end) +
                ") has more than 2^48 iterations; run it as several loops");
  }
  return end - begin;
}

loop_dealer::loop_dealer(std::int64_t begin, std::int64_t end, schedule how, int shares)
    : begin_(begin), end_(std::max(begin, end)), grain_(how.grain), deal_(how.deal), shares_(shares) {
  if (how.grain < 0)
    throw error("kith::schedule: the grain is " + std::to_string(how.grain) +
                "; expected 0 (1; for static_: equal shares) or more");
  const std::int64_t count = iterations(begin, end);
  if (grain_ == 0) grain_ = deal_ == schedule::static_ ? (count + shares - 1) / shares : 1;
  grain_ = std::clamp<std::int64_t>(grain_, 1, std::max<std::int64_t>(1, count));
}

bool loop_dealer::next(int share, std::int64_t turn, std::int64_t& from, std::int64_t& to) noexcept {
  const std::int64_t count = end_ - begin_;
  if (count == 0) return false;
  if (deal_ == schedule::static_) {
    const std::int64_t chunk = turn * shares_ + share;
    if (chunk > (count - 1) / grain_) return false;
    from = chunk * grain_;
    to = std::min(count, from + grain_);
  } else if (deal_ == schedule::dynamic) {
    from = taken_.fetch_add(grain_, std::memory_order_relaxed);
    if (from >= count) return false;
    to = std::min(count, from + grain_);
  } else {
    from = taken_.load(std::memory_order_relaxed);
    do {
      if (from >= count) return false;
      to = std::min(count, from + std::max(grain_, (count - from + shares_ - 1) / shares_));
    } while (!taken_.compare_exchange_weak(from, to, std::memory_order_relaxed));
  }
  from += begin_;
  to += begin_;
  return true;
}

}  // namespace detail

}  // namespace kith
