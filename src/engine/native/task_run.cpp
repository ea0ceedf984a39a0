// The run of a task: from the moment it is found, or created if it runs there, to the end of its body. task_end.cpp
// continues.
#include "engine/life/claim.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/recorded_body.hpp"
#include "engine/native/worker.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"

#include <utility>

namespace kith::native {

/// Whether nothing is to be done for the task besides running its body, ending it and releasing its successors.
[[gnu::always_inline]] inline bool worker::is_plain(const task& t) const noexcept {
  constexpr std::uint8_t special = task::claimable | task::extended | task::exclusive | task::skip | task::phased;
  return runs_plainly && (t.flags & special) == 0 && !t.scope->is_cancelled();
}

task* worker::run(task& t) {
  if (!is_plain(t)) [[unlikely]]
    return run_in_full(t, false);
  // The straight path: what run_in_full() and end() would do for this task.
  if (reporting_ != t.scope) [[unlikely]]
    turn_to(*t.scope);
  edges::prefetch_first(engine.space, t);
  const detail::outcome how = run_body(t, [&] { return t.code(t.payload, detail::action::run); });
  if (how != detail::outcome::ended) [[unlikely]]
    return end_run_in_full(t, how);
  task* next = nullptr;
  bool several = false;
  edges::release(engine.space, edges::close(t), id, [&](task& r) {
    if (next != nullptr || (r.flags & (task::internal | task::exclusive | task::has_overflow)) != 0) [[unlikely]] {
      add_released(std::exchange(next, nullptr), r);
      several = true;
    } else {
      mark_queued(r);
      next = &r;
    }
  });
  if (t.scope->counts_here.load(relaxed) != this || several) [[unlikely]]
    return end_run_with_batch(t, next);
  t.scope->count_ended_here();
  give_slot(t);
  if (next == nullptr) return nullptr;
  task* const one[] = {next};
  return make_ready(one, ready_reason::completion);
}

/// Called when this worker runs tasks of another scope than before.
[[gnu::noinline]] void worker::turn_to(detail::scope& s) {
  report();  // C1 of scope.hpp: they may take long
  reporting_ = &s;
}

[[gnu::noinline]] task* worker::run_in_full(task& t, bool timed) {
  if ((t.flags & task::claimable) != 0 && std::exchange(claimed_, nullptr) != &t && !take(t)) return nullptr;
  if (reporting_ != nullptr && reporting_ != t.scope) [[unlikely]]
    report();  // C1 of scope.hpp: t may take long
  const detail::outcome how = execute(t, timed);
  return how == detail::outcome::ended ? end(t) : end_run_in_full(t, how);
}

/// Takes a task that came out of a queue. True if this worker must run it; false if another worker has claimed it.
bool worker::take(task& t) {
  const life::taken_entry entry = life::take(t.state);
  if (entry == life::taken_entry::runs) [[likely]]
    return true;
  if (entry == life::taken_entry::last) {
    free_room(t);
    give_slot(t);
  }
  return false;
}

/// Runs the body. If the body did not wait for its children, their scope goes to left_children_, and the result
/// is `held`.
[[gnu::always_inline]] inline detail::outcome worker::execute(task& t, bool timed) {
  if (!runs_plainly || timed || (t.flags & task::skip) != 0 || t.scope->is_cancelled()) [[unlikely]]
    return execute_in_full(t, timed);
  return run_body(t, [&] { return t.code(t.closure(), detail::action::run); });
}

[[gnu::noinline]] detail::outcome worker::execute_in_full(task& t, bool timed) {
  detail::scope& s = *t.scope;
  detail::outcome how = detail::outcome::ended;
  std::uint64_t began = log != nullptr || timed ? ticks() : 0;
  std::uint8_t noted = t.exploring != 0 ? log_explores : std::uint8_t{0};
  if ((t.flags & task::skip) != 0 || s.is_cancelled()) {
    t.code(t.closure(), detail::action::discard);
    const bool dry = engine.options.dry && !s.is_cancelled();
    sums.add(dry ? event::task_executed : event::task_cancelled);
    if (!dry) noted |= log_cancelled;
  } else {
    if (engine.track_homes && t.exploring == 0) count_accesses(t, began);
    identity::naming_state outer_naming;
    if (engine.policy.has_gate()) [[unlikely]]
      outer_naming = std::exchange(naming, {engine.identities.identity_of(t)});
    how =
        run_body(t, [&] { return log != nullptr ? run_recorded(t, began) : t.code(t.closure(), detail::action::run); });
    if (engine.policy.has_gate()) [[unlikely]]
      naming = outer_naming;
    if (timed) note_time(t, ticks() - began);
  }
  if (log != nullptr) [[unlikely]]
    note_executed(t, began, noted);
  return how;
}

/// Runs call(), which runs the code of t, as the innermost task on this worker.
template <class Call>
[[gnu::always_inline]] inline detail::outcome worker::run_body(task& t, const Call& call) {
  detail::scope& s = *t.scope;
  task* const outer = std::exchange(running, &t);
  detail::scope* const outer_scope = std::exchange(task_scope, &s);
  detail::scope* const outer_children = std::exchange(children_scope, nullptr);
  detail::outcome how;
  try {
    how = call();
  } catch (...) {
    how = detail::outcome::held;
    s.fail(std::current_exception());
    if (children_scope != nullptr) children_scope->cancel();
  }
  if (children_scope != nullptr) [[unlikely]]
    how = leave_children_behind(s, how);
  running = outer;
  task_scope = outer_scope;
  children_scope = outer_children;
  if (how == detail::outcome::ended) [[likely]] {
    sums.add(event::task_executed);
  } else {
    sums.add(how == detail::outcome::again ? event::node_explored : event::task_executed);
  }
  return how;
}

/// Ends the body of a task of `s` that has created tasks.
[[gnu::noinline]] detail::outcome worker::leave_children_behind(detail::scope& s, detail::outcome how) {
  if (how == detail::outcome::again || how == detail::outcome::generated) {  // keeps `explored` over the wait
    const exploration mine = std::exchange(explored, {});
    if (std::exception_ptr failure = end_children()) s.fail(std::move(failure));
    explored = mine;
    return how;
  }
  left_children_ = children_scope;
  nothing_held_ = how == detail::outcome::ended;
  return detail::outcome::held;
}

void worker::note_time(const task& t, std::uint64_t took) {
  engine.bodies.took(t.code, took, engine.distance.short_body());
  if (engine.policy.observes_time())
    engine.policy.ran(t, *this, static_cast<std::uint64_t>(static_cast<double>(took) * seconds_per_tick() * 1e9));
}

/// Runs the task's code; calibrates some tasks. Sets `began` to the start of the body.
detail::outcome worker::run_recorded(task& t, std::uint64_t& began) {
  if (engine.calibrator != nullptr && engine.calibrator->takes(t)) {
    const detail::outcome how = engine.calibrator->run(*this, t);
    if (how != detail::outcome::unable) return how;
  }
  const std::uint64_t as = t.exploring == 0 ? edges::reference_to(engine.space, t).packed().value : 0;
  const counted_body counted(counts, log, as, body_ended_);
  if (engine.track_homes || engine.calibrator != nullptr || counts.on())
    began = ticks();  // restart the clock: counting homes, and reading counters, is not charged to the task
  const traced_body traced(addresses, as);
  return t.code(t.closure(), detail::action::run);
}

void worker::note_executed(task& t, std::uint64_t began, std::uint8_t noted) {
  const std::uint64_t ref = edges::reference_to(engine.space, t).packed().value;
  if (engine.calibrator != nullptr) {
    if (const std::optional<native::calibrator::sample> s = engine.calibrator->take_sample(t)) {
      log->executed(ref, s->began, s->ended, noted);
      if (s->cold != 0) log->sampled(ref, s->cold, s->warm, s->hot);
      return;
    }
  }
  const std::uint64_t ended = std::exchange(body_ended_, 0);
  log->executed(ref, began, ended != 0 ? ended : ticks(), noted);
}

void worker::run_at_creation(task& t) {
  if (!may_nest()) {
    requeue(&t);
    return;
  }
  sums.add(event::task_inlined);
  const above_halves runs_on_top(lane_, running);
  requeue(run(t));
}

void worker::request_help(detail::scope& s) noexcept {
  constexpr std::uint64_t few = 32;
  s.throttle_at = std::min(s.throttle_at, s.not_ended_here() + few);
  runs_all_at_throttle_ = true;
}

void worker::run_unseen(task& t) {
  sums.add(event::task_inlined);
  const above_halves runs_on_top(lane_, running);
  const bool timed = until_measure_-- == 0;
  if (timed) [[unlikely]]
    until_measure_ = measure_interval;
  const bool outer = std::exchange(on_creator_, true);
  const detail::outcome how = execute(t, timed);
  on_creator_ = outer;
  if (how != detail::outcome::ended) [[unlikely]] {
    requeue(end_run_in_full(t, how));
    return;
  }
  edges::close_unseen(t);
  if (ended_in(*t.scope, throttled_bytes(t))) [[unlikely]]
    requeue(end_left(nullptr));
  free_room(t);
  slots.give_own(t);
}

}  // namespace kith::native
