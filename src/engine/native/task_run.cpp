// The run of a task: from the moment it is found to the end of its body. task_end.cpp continues.
#include "engine/life/claim.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "engine/native/worker.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"

#include <utility>

namespace kith::native {

task* worker::run(task& t) {
  if ((t.flags & task::claimable) != 0 && std::exchange(claimed_, nullptr) != &t && !take(t)) return nullptr;
  if (reporting_ != nullptr && reporting_ != t.scope) [[unlikely]]
    report();  // C1: t may take long
  const detail::outcome how = execute(t);
  if (how == detail::outcome::held) {
    const bool held = !std::exchange(nothing_held_, false);
    if (detail::scope* const children = std::exchange(left_children_, nullptr); children != nullptr) {
      if (leave(t, *children, held)) return nullptr;
    }
    if (held) t.code(t.closure(), detail::action::discard);
  } else if (how != detail::outcome::ended) [[unlikely]] {
    return end_phase(t, how);
  }
  return end(t);
}

/// The task came out of a queue. True if this worker must run it; false if another worker has claimed it.
bool worker::take(task& t) {
  const life::taken_entry entry = life::take(t.state);
  if (entry == life::taken_entry::runs) [[likely]]
    return true;
  if (entry == life::taken_entry::last) {
    free_room(t);
    give_slot(engine.space.index_of(t));
  }
  return false;
}

/// Runs the body. If the body did not wait for its children, their scope goes to left_children_, and the result
/// is `held`.
detail::outcome worker::execute(task& t) {
  edges::free_overflow(engine.space, t, [this](slot_index b) { give_slot(b); });
  detail::scope& s = *t.scope;
  detail::outcome how = detail::outcome::ended;
  const bool timed = timing_;
  timing_ = false;  // not for tasks that run inside t
  std::uint64_t began = log != nullptr || timed ? ticks() : 0;
  std::uint8_t noted = t.exploring != 0 ? log_explores : std::uint8_t{0};
  if ((t.flags & task::skip) != 0 || s.is_cancelled()) {
    t.code(t.closure(), detail::action::discard);
    const bool dry = engine.options.dry && !s.is_cancelled();
    sums.add(dry ? event::task_executed : event::task_cancelled);
    if (!dry) noted |= log_cancelled;
  } else {
    if (engine.track_homes && t.exploring == 0) count_accesses(t, began);
    task* const outer = std::exchange(running, &t);
    detail::scope* const outer_scope = std::exchange(task_scope, &s);
    detail::scope* const outer_children = std::exchange(children_scope, nullptr);
    identity::creator outer_naming;
    if (engine.policy.has_gate()) [[unlikely]]
      outer_naming = std::exchange(naming, {engine.identities.identity_of(t)});
    try {
      how = log != nullptr ? run_recorded(t, began) : t.code(t.closure(), detail::action::run);
    } catch (...) {
      how = detail::outcome::held;
      s.fail(std::current_exception());
      if (children_scope != nullptr) children_scope->cancel();
    }
    if (children_scope != nullptr) [[unlikely]] {
      if (how == detail::outcome::again || how == detail::outcome::generated) {  // keeps `said` over the wait
        const phase mine = std::exchange(said, {});
        if (std::exception_ptr failure = end_children()) s.fail(std::move(failure));
        said = mine;
      } else {
        left_children_ = children_scope;
        nothing_held_ = how == detail::outcome::ended;
        how = detail::outcome::held;
      }
    }
    if (engine.policy.has_gate()) [[unlikely]]
      naming = outer_naming;
    running = outer;
    task_scope = outer_scope;
    children_scope = outer_children;
    sums.add(how == detail::outcome::again ? event::node_explored : event::task_executed);
    if (timed) [[unlikely]]
      tell_time(t, ticks() - began);
  }
  if (log != nullptr) [[unlikely]]
    note_executed(t, began, noted);
  return how;
}

void worker::tell_time(const task& t, std::uint64_t took) {
  engine.policy.ran(t, *this, static_cast<std::uint64_t>(static_cast<double>(took) * seconds_per_tick() * 1e9));
}

/// Runs the task's code; calibrates some tasks. Sets `began` to the start of the body.
detail::outcome worker::run_recorded(task& t, std::uint64_t& began) {
  if (engine.calibrator != nullptr && engine.calibrator->takes(t)) {
    const detail::outcome how = engine.calibrator->run(*this, t);
    if (how != detail::outcome::unable) return how;
  }
  if (engine.track_homes || engine.calibrator != nullptr)
    began = ticks();  // restart the clock: counting homes is not charged to the task
  const traced_body traced(addresses, t.exploring == 0 ? edges::reference_to(engine.space, t).packed().value : 0);
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
  log->executed(ref, began, ticks(), noted);
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

}  // namespace kith::native
