// What idle workers do: they claim, ask the policy, or leave the stack of a wait. park.cpp has how they sleep.
#include "engine/life/claim.hpp"
#include "engine/life/search_order.hpp"
#include "engine/sim/engine.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace kith::sim {

namespace {

/// The longest pause between two searches that fail.
constexpr picoseconds longest_pause = 20'000'000;

}  // namespace

/// From here on searches in vain are counted anew.
void engine::begin_search(worker& w) {
  w.failed_searches = 0;
  end_last_round(w);
}

void worker::submit(job<sequential::worker_view>& j, const worker_set& audience) { engine.submit(*this, j, audience); }
void engine::submit(worker& w, job<sequential::worker_view>& j, const worker_set& audience) {
  w.group.jobs.push_back(&j);
  ring(w, audience);
}

/// Spends the job's time; end_job() then runs it.
void engine::begin_job(worker& w) {
  w.group.policy.idle(w);
  w.current_job = w.group.jobs.front();
  w.group.jobs.pop_front();
  w.current_job_size = w.current_job->size();
  w.job_began = w.clock;
  const picoseconds took = cost(static_cast<double>(w.current_job_size.nanoseconds));
  w.clock += took;
  partition_time_ += took;
  begin_search(w);
}

void engine::end_job(worker& w) {
  if (notes_) notes_->did_job(w.number, w.current_job_size, w.job_began, w.clock);
  std::exchange(w.current_job, nullptr)->run(w);
}

/// Whether the wait cannot end before the task does, because the task is below what it waits for.
bool engine::may_run_on(const frame& wait, std::int32_t t) const {
  if (wait.helps_as_member || wait.state == frame_state::offering) return false;
  std::uint32_t scope = records_[static_cast<std::size_t>(t)].scope;
  for (int level = 0; level <= life::known_levels; ++level) {
    if (scope == wait.scope) return true;
    const std::int32_t owner = scopes_[scope].task;
    if (owner < 0) return false;
    scope = records_[static_cast<std::size_t>(owner)].scope;
    if (scope >= scopes_.size()) return false;
  }
  return false;
}

/// The index of a suspended stack that may continue, if one was found. With `idle`, also a creator that helps at the
/// throttle.
std::optional<std::size_t> engine::find_resumable_stack(worker& w, bool all_stacks, bool idle) const {
  const std::size_t count = w.suspended.size();
  const auto may = [&](std::size_t i) {
    const frame& f = w.suspended[i].back();
    return may_resume(f) || (idle && f.state == frame_state::helping);
  };
  const std::size_t found = w.suspended_turn.find(count, all_stacks, may);
  return found != count ? std::optional(found) : std::nullopt;
}

/// Suspends the current stack, whose last frame waits.
void engine::leave_stack(worker& w) {
  register_waiter(w);
  if (!w.frames.empty()) w.suspended.push_back(std::move(w.frames));
  w.frames.clear();
}

/// Leaves this stack for one whose wait may continue; false if there is none.
bool engine::switch_stack(worker& w, bool all_stacks, bool idle) {
  if (w.suspended.empty() || w.claimed >= 0) return false;
  const std::optional<std::size_t> found = find_resumable_stack(w, all_stacks, idle);
  if (!found) return false;
  if (w.next >= 0) requeue(w, std::exchange(w.next, -1));
  frame_stack other = std::move(w.suspended[*found]);
  w.suspended.erase(w.suspended.begin() + static_cast<std::ptrdiff_t>(*found));
  w.group.policy.idle(w);
  leave_stack(w);
  w.frames = std::move(other);
  begin_search(w);
  w.search_paid = false;
  return true;
}

/// Runs the task on top of the current wait if that cannot delay the wait, else on a fresh stack.
void engine::run_found(worker& w, std::int32_t t) {
  if (!w.frames.empty() && !may_run_on(w.frames.back(), t)) {
    leave_stack(w);
    w.fresh_adopted_from = w.adopted.size();
  }
  start(w, t);
}

/// Claims a queued task.
bool engine::claim(std::int32_t t) { return life::claim(life::sequential_state{state_of(t)}); }

/// Claims a queued child of the scope, the newest first; with `all`, also children older than one that is not ready.
std::int32_t engine::claim_child(std::uint32_t scope, bool all) {
  return life::claim_newest(
             scopes_[scope].children, all, [&](std::int32_t t) { return state_of(t) == task_state::created; },
             [&](std::int32_t t) { return claim(t); })
      .value_or(-1);
}

/// Whether the worker may claim children of the scope that its stack waits for.
bool engine::may_claim_children(const worker& w) noexcept {
  return !w.frames.empty() && !w.frames.back().helps_as_member && w.frames.back().state != frame_state::offering;
}

/// Claims the newest child that a task on top of the stack's wait has left behind; -1: there is none.
std::int32_t engine::claim_adopted(worker& w) {
  const std::size_t from = w.frames.empty() ? w.fresh_adopted_from : w.frames.back().adopted_from;
  return life::claim_adopted(w.adopted, from, [&](std::int32_t t) { return claim(t); }).value_or(-1);
}

/// Claims a child of the scope that the worker's stack waits for; -1: there is none.
std::int32_t engine::claim_awaited(worker& w) { return claim_child(w.frames.back().scope, w.empty_rounds != 0); }

/// Ends the search with this task; false for -1, which means that none was found.
bool engine::run_if_found(worker& w, std::int32_t t) {
  if (t < 0) return false;
  begin_search(w);
  run_found(w, t);
  return true;
}

/// As run_if_found(), for a claimed task. `in_vain`: the policy's last answer was no task.
bool engine::run_if_claimed(worker& w, std::int32_t child, bool in_vain) {
  if (child < 0) return false;
  if (in_vain) w.group.policy.idle(w);
  w.sums.add(event::claimed);
  w.dead.leave_one();
  w.claimed = child;
  return run_if_found(w, child);
}

/// Runs a task that the policy did not queue when it was given back; false if there is none.
bool engine::run_unqueued(worker& w) {
  if (w.unqueued.empty()) return false;
  const std::int32_t t = w.unqueued.back();
  w.unqueued.pop_back();
  return run_if_found(w, t);
}

/// Runs a task that the worker's prefetcher has received from the scheduling unit; false if there is none.
bool engine::run_prefetched(worker& w) {
  const std::int32_t t = take_prefetched(w);
  if (t < 0) return false;
  if (!w.frames.empty()) w.frames.back().failed_searches = 0;
  return run_if_found(w, t);
}

/// Runs the task that the policy has given.
void engine::run_given(worker& w, task& t) {
  if (!w.frames.empty()) w.frames.back().failed_searches = 0;
  note_found(w);
  if (unit_) receive_from_unit(w);
  run_if_found(w, as_policy_task(t).number());
}

void engine::look_for_task(worker& w) {
  w.search_paid = false;
  if (!w.group.jobs.empty()) {
    begin_job(w);
    return;
  }
  if (run_unqueued(w)) return;
  const bool failed_before = w.failed_searches != 0;
  if (run_if_claimed(w, claim_adopted(w), failed_before)) return;
  const bool claims = may_claim_children(w);
  const bool asks_first = claims && scopes_[w.frames.back().scope].leveled;  // the policy knows the highest priority
  if (claims && !asks_first && run_if_claimed(w, claim_awaited(w), failed_before)) return;
  if (unit_ && run_prefetched(w)) return;
  const poll_result polled = unit_ ? poll_unit(w, w.clock) : w.group.policy.next(w);
  if (polled.kind == poll_result::found) {
    run_given(w, *polled.work);
    return;
  }
  if (asks_first && run_if_claimed(w, claim_awaited(w), true)) return;
  found_nothing(w, polled.kind);
}

/// Spends the time of a search, which grows with the number of failures. The worker searches after that.
void engine::pay_for_search(worker& w) {
  if (unit_) {
    request_from_unit(w);
    return;
  }
  picoseconds pause = w.failed_searches == 0 ? costs_.pop : costs_.attempt;
  if (w.failed_searches > 1)
    pause = std::min(pause << std::min(w.failed_searches - 1, 8), std::max(longest_pause, pause));
  w.clock += std::max(pause, w.failed_searches == 0 ? picoseconds{0} : least_step);
  if (w.failed_searches == 0) w.overhead += pause;
  w.search_paid = true;
}

/// Called when the policy has given a task. Counts the worker's first one, if it was stolen.
void engine::note_found(worker& w) {
  const bool stolen = std::exchange(w.known_steals, w.sums[event::steal]) != w.sums[event::steal];
  if (std::exchange(w.has_worked, true) || !stolen) return;
  w.sums.add(event::first_steal, static_cast<std::uint64_t>(w.clock - run_began_));
  w.sums.add(event::first_steals);
}

/// Called when there is no task for the worker: a creator at the throttle may continue, other workers sleep after two
/// empty rounds.
void engine::found_nothing(worker& w, poll_result::answer answer) {
  ++w.failed_searches;
  if (!w.frames.empty() && w.frames.back().state == frame_state::helping) {
    frame& f = w.frames.back();
    if (++f.failed_searches < life::throttle::most_failed_searches && answer != poll_result::empty) return;
    if (!std::exchange(f.waiting_announced, true)) {  // the policy may hold tasks back
      w.group.policy.waiting(w);
      f.failed_searches = 0;
      return;
    }
    end_help(w);
    w.failed_searches = 0;
    return;
  }
  if (answer != poll_result::empty) return;
  // The round that ends with the first `empty` may have begun before a push; the second one is complete.
  if (++w.empty_rounds < 2) {
    w.group.last_round.insert(w.id);
    return;
  }
  end_last_round(w);
  if (switch_stack(w, true, true)) return;
  park(w);
}

}  // namespace kith::sim
