// What idle workers do (claim, ask the policy, sleep), and how they are woken.
#include "engine/life/claim.hpp"
#include "engine/life/search_order.hpp"
#include "engine/sim/engine.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <bit>

namespace kith::sim {

namespace {

/// A worker that parked less than this long ago still spins, and is woken at the cost of an attempt.
constexpr picoseconds spins_for = 50'000'000;
/// The longest pause between two searches that fail.
constexpr picoseconds longest_pause = 20'000'000;
}  // namespace

bool worker::ring(const worker_set& audience) { return engine.ring(*this, audience); }
bool worker::anybody_sleeps() const noexcept { return engine.anybody_sleeps(group); }
void worker::refuse(task& t, const std::string& why) { engine.refuse(t, why); }
void worker::submit(job<sequential::worker_view>& j, const worker_set& audience) { engine.submit(*this, j, audience); }
bool worker::drop_if_dead(task& t) { return engine.drop_if_dead(t); }
void worker::charge(event e, worker_id owner) {
  if (e == event::push || e == event::pop || e == event::steal) engine.charge(*this, e, owner);
}

void engine::refuse(task& t, const std::string& why) const {
  const std::int32_t n = as_policy_task(t).number();
  throw error("task " + std::to_string(n) + " (" + program_.type_name(static_cast<std::size_t>(n)) + ") " + why);
}

picoseconds engine::far_cost(picoseconds near, int distance) const noexcept {
  return options_.parts.latency ? near * static_cast<picoseconds>(distance) / 10 : near;
}

/// The mean distance to a queue without an owner. In fidelity line, where lines have home caches, its memory is spread
/// over all of them.
int engine::distance_of_shared() const {
  if (!machine_.line.homes || options_.fidelity != fidelity::line) return 10;
  std::int64_t sum = 0;
  const std::vector<node_id>& nodes = team_.inhabited();
  for (const node_id a : nodes) {
    for (const node_id b : nodes) sum += team_.distance(a, b);
  }
  return static_cast<int>(sum / static_cast<std::int64_t>(nodes.size() * nodes.size()));
}

/// For pushes, pops and steals. search() has paid for the search, so a pop or a failed attempt costs nothing here,
/// except the time until a shared queue is free.
void engine::charge(worker& w, event e, worker_id owner) {
  if (e == event::steal && notes_)
    notes_->stole(w.number, static_cast<std::uint32_t>(owner.value) + w.group.first, w.clock);
  if (unit_) {
    if (e == event::push && !unit_->reads) push_to_unit(w);
    return;
  }
  if (!options_.parts.scheduling) return;
  if (owner) {
    if (e == event::pop) return;
    const int distance = team_.distance(w.node, w.group.workers.node_of(owner));
    spend(w, far_cost(e == event::push ? costs_.push : costs_.steal, distance));
    return;
  }
  picoseconds took = e == event::push    ? shared_costs_.push
                     : e == event::steal ? shared_costs_.steal
                                         : shared_costs_.pop - costs_.pop;
  if (options_.parts.contention) {  // a shared queue serves one worker at a time
    if (last_queue_.first != w.here()) last_queue_ = {w.here(), &queue_free_at_[w.here()]};
    picoseconds& free = *last_queue_.second;
    const picoseconds waited = free > w.clock ? free - w.clock : 0;
    free = w.clock + waited + (e == event::pop ? shared_costs_.pop : shared_costs_.push) / 2;
    took += waited;
  }
  spend(w, took);
}

bool engine::ring(worker& w, const worker_set& audience) {
  if (unit_ && answer_waiting_request(w, audience)) {
    w.sums.add(event::wake);
    return true;
  }
  policy_group& g = w.group;
  if (const worker_id found = g.parked.first_common(audience)) {
    wake(workers_[g.first + found.index()], w.clock);
    w.sums.add(event::wake);
    return true;
  }
  // A worker in its last round before sleeping starts that round again: it may already have passed the queue that has
  // just received work.
  while (const worker_id found = g.last_round.first_common(audience)) end_last_round(workers_[g.first + found.index()]);
  return false;
}

/// The worker sleeps, or has found something.
void engine::end_last_round(worker& w) {
  w.empty_rounds = 0;
  w.group.last_round.erase(w.id);
}
/// From here on searches in vain are counted anew.
void engine::begin_search(worker& w) {
  w.failed_searches = 0;
  end_last_round(w);
}

/// With a scheduling unit always true: prefetchers may wait at it.
bool engine::anybody_sleeps(const policy_group& g) const noexcept {
  return unit_ || !g.parked.empty() || !g.last_round.empty();
}

void engine::wake(worker& w, picoseconds time) {
  const picoseconds latency = time < w.parked_at + spins_for ? costs_.attempt : costs_.wake;
  wake_at(w, std::max(w.clock, time) + std::max(latency, least_step));
}

void engine::wake_at(worker& w, picoseconds time) {
  ++events_taken_;
  w.parked = false;
  w.group.parked.erase(w.id);
  w.clock = time;
  if (notes_) notes_->idled(w.number, w.parked_at, w.clock);
  w.search_paid = true;
  events_.set(w.number, w.clock);
}

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

void engine::park(worker& w) {
  w.group.policy.idle(w);
  w.parked = true;
  w.parked_at = w.clock;
  w.sums.add(event::park);
  w.group.parked.insert(w.id);
  register_waiter(w);
}

/// If this worker waits for a scope, the worker that empties it will wake this one. A worker that helps in a
/// scope does not wait for it.
void engine::register_waiter(const worker& w) {
  if (w.frames.empty() || w.frames.back().state != frame_state::waiting) return;
  scopes_[w.frames.back().scope].waiter = static_cast<std::int32_t>(w.number);
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

/// 1 + the index of a suspended stack that may continue; 0 if none was found. With `idle`, also a creator that
/// helps at the throttle.
std::size_t engine::find_resumable_stack(worker& w, bool all_stacks, bool idle) const {
  const std::size_t count = w.suspended.size();
  const auto may = [&](std::size_t i) {
    const frame& f = w.suspended[i].back();
    return may_resume(f) || (idle && f.state == frame_state::helping);
  };
  const std::size_t found = w.suspended_turn.find(count, all_stacks, may);
  return found != count ? found + 1 : 0;
}

/// Suspends the current stack, whose last frame waits.
void engine::leave_stack(worker& w) {
  register_waiter(w);
  if (!w.frames.empty()) w.suspended.push_back(std::move(w.frames));
  w.frames.clear();
}

/// Leaves this stack for one whose wait may continue; false if there is none.
bool engine::switch_stack(worker& w, bool all_stacks, bool idle) {
  const std::size_t found = w.suspended.empty() || w.claimed >= 0 ? 0 : find_resumable_stack(w, all_stacks, idle);
  if (found == 0) return false;
  if (w.next >= 0) {
    batch_.assign(1, &policy_task_of(std::exchange(w.next, -1)));
    make_ready(w, batch_, ready_reason::arrival, false);
  }
  frame_stack other = std::move(w.suspended[found - 1]);
  w.suspended.erase(w.suspended.begin() + static_cast<std::ptrdiff_t>(found - 1));
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

void engine::look_for_task(worker& w) {
  w.search_paid = false;
  if (!w.group.jobs.empty()) {
    begin_job(w);
    return;
  }
  const bool waits = !w.frames.empty();
  const auto runs = [&](std::int32_t t) {
    if (t < 0) return false;
    begin_search(w);
    run_found(w, t);
    return true;
  };
  if (!w.unqueued.empty()) {
    const std::int32_t t = w.unqueued.back();
    w.unqueued.pop_back();
    runs(t);
    return;
  }
  bool in_vain = w.failed_searches != 0;  // the policy's last answer was no task
  const auto runs_claimed = [&](std::int32_t child) {
    if (child < 0) return false;
    if (in_vain) w.group.policy.idle(w);
    w.sums.add(event::claimed);
    w.dead.leave_one();
    w.claimed = child;
    return runs(child);
  };
  const bool claims = waits && !w.frames.back().helps_as_member && w.frames.back().state != frame_state::offering;
  const bool asks_first = claims && scopes_[w.frames.back().scope].leveled;
  const std::size_t adopted_from = waits ? w.frames.back().adopted_from : w.fresh_adopted_from;
  if (runs_claimed(life::claim_adopted(w.adopted, adopted_from, [&](std::int32_t t) { return claim(t); }).value_or(-1)))
    return;
  if (claims && !asks_first && runs_claimed(claim_child(w.frames.back().scope, w.empty_rounds != 0))) return;
  if (const std::int32_t t = unit_ ? take_prefetched(w) : -1; t >= 0) {
    if (waits) w.frames.back().failed_searches = 0;
    runs(t);
    return;
  }
  const poll_result l = unit_ ? poll_unit(w, w.clock) : w.group.policy.next(w);
  in_vain = l.kind != poll_result::found;
  if (asks_first && l.kind != poll_result::found &&
      runs_claimed(claim_child(w.frames.back().scope, w.empty_rounds != 0)))
    return;
  if (l.kind != poll_result::found) {
    found_nothing(w, l.kind);
    return;
  }
  if (waits) w.frames.back().failed_searches = 0;
  note_found(w);
  if (unit_) receive_from_unit(w);
  runs(as_policy_task(*l.work).number());
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

void engine::starved() {
  std::string text = "the run starves: no worker can continue, and ";
  std::size_t left = 0;
  std::string some;
  for (std::size_t i = 0; i < program_.tasks(); ++i) {
    if (records_[i].state == task_state::none || records_[i].state == task_state::ended ||
        records_[i].state == task_state::running)
      continue;
    if (++left > 5) continue;
    some += "\n  task " + std::to_string(i) + " (" + program_.type_name(i) + ")";
    if (records_[i].state == task_state::queued) {
      some += " is in a queue that no worker reads";
    } else {
      some += " waits for";
      for (const recorded_dependence& d : program_.dependences(i)) {
        if (state_of(d.before) != task_state::ended)
          some +=
              " task " + std::to_string(d.before) + " (" + program_.type_name(static_cast<std::size_t>(d.before)) + ")";
      }
    }
  }
  throw error(text + std::to_string(left) + " tasks are left:" + some);
}

}  // namespace kith::sim
