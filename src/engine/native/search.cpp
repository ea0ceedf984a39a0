// Where a worker finds its next task: among children that it may claim, in the policy's queues, in the inbox. find.hpp
// has the part that is on every task's path, park.cpp what follows when nothing is found.
#include "base/invariant.hpp"
#include "engine/life/claim.hpp"
#include "engine/life/search_order.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/find.hpp"
#include "engine/native/seat_log.hpp"
#include "engine/native/worker.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace kith::native {

/// Children of tasks that ran on top of the wait come before those of the wait itself, because they are newer. The list
/// also has children of other stacks, which may not run on top of the wait. They are left in their queues unless the
/// worker can leave its stack, because a claimed task must run. While it stays on it, no other stack runs.
[[gnu::noinline]] task* worker::find_child_first(const pending_wait& w) {
  if (adopted_.size() > w.adopted_from && (w.runs_any_task || stays_ || may_leave_stack(w))) [[unlikely]] {
    if (task* t = claim_adopted(w.adopted_from)) return t;
  }
  if (w.may_claim_children) {
    const bool asks_first = w.scope->leveled;  // only the policy knows which has the highest priority
    if (asks_first) {
      if (task* t = find_anywhere()) return t;
    }
    if (task* t = claim_child(*w.scope, false)) {
      if (asks_first) engine.policy.idle(*this);  // it has answered without a task
      return t;
    }
    if (asks_first) return nullptr;
  }
  return find_anywhere();
}

/// Called when the policy has given an answer without a task.
[[gnu::noinline]] task* worker::found_none(poll_result answer) {
  answered_later_ = answer.kind == poll_result::later;
  return answer.kind != poll_result::retry ? drain_inbox() : nullptr;
}

/// Claims a queued child, the newest first; with `all`, also children older than one that is not ready. The
/// generation shows which entries of the list are stale. If a slot is reused between the check and the claim,
/// another queued task is claimed, which does no harm.
task* worker::claim_child(detail::scope& s, bool all) {
  const auto found = life::claim_newest(
      s.children, all,
      [&](reference r) { return is_alive(r) && engine.space[r.index].state.load(relaxed) == task_state::created; },
      [&](reference r) { return is_alive(r) && claim(engine.space[r.index]); });
  return found ? &engine.space[found->index] : nullptr;
}

/// Claims the newest adopted child that is queued. One that is not ready yet is dropped from the list, and runs
/// from its queue.
task* worker::claim_adopted(std::size_t down_to) {
  const auto found =
      life::claim_adopted(adopted_, down_to, [&](reference r) { return is_alive(r) && claim(engine.space[r.index]); });
  return found ? &engine.space[found->index] : nullptr;
}

bool worker::is_alive(reference r) const noexcept {
  // relaxed: claim() orders what is read of the task.
  return edges::generation_of(engine.space[r.index].head.load(relaxed)) == r.generation;
}

/// Claims a queued task.
bool worker::claim(task& t) {
  if (!life::claim(t.state)) return false;
  sums.add(event::claimed);
  dead.leave_one();
  KITH_ASSERT(claimed_ == nullptr, "the task that was claimed before has begun");
  claimed_ = &t;
  return true;
}

/// Gives the policy what has arrived, some tasks at a time, because that needs no memory. If the policy throws, the
/// others arrive again. What only this worker may run comes first.
task* worker::drain_inbox() {
  if (task* const mine = take_addressed()) return mine;
  if (engine.arrivals.empty()) return nullptr;
  task* first = nullptr;
  task* left = engine.arrivals.take_all();
  try {
    while (left != nullptr) {
      std::array<task*, 32> some{};
      std::size_t n = 0;
      for (; left != nullptr && n < some.size(); left = get_next(*left)) some[n++] = left;
      task* const now = make_ready({some.data(), n}, ready_reason::arrival);
      if (first == nullptr) {
        first = now;
      } else {
        requeue(now);
      }
    }
  } catch (...) {
    while (left != nullptr) engine.arrive(*std::exchange(left, get_next(*left)));
    throw;
  }
  return first;
}

/// Runs one job of the policy; leaves further ones to other workers.
void worker::run_job() {
  job<worker_view>* const mine = engine.jobs.take_all();
  if (mine == nullptr) return;
  for (job<worker_view>* next = get_next(*mine); next != nullptr;) {
    job<worker_view>& other = *std::exchange(next, get_next(*next));
    submit(other, engine.workers_where.everybody());
  }
  engine.policy.idle(*this);
  report();  // C1 of scope.hpp: the job may take long
  if (resting_) start_busy();
  const job_size size = mine->size();
  const std::uint64_t began = ticks();
  mine->run(*this);
  sums.add(event::job, ticks() - began);
  if (log != nullptr) [[unlikely]]
    log->job(began, size);
  if (resting_) stop_busy();
}

/// Notes that the worker has found its first task of this run.
void worker::note_first_task(std::uint64_t run) noexcept {
  run_seen_ = run;
  if (sums[event::steal] == steals_before_) return;  // its first task was not stolen
  const std::uint64_t began = engine.run_began.load(relaxed), now = ticks();
  sums.add(event::first_steal, now > began ? now - began : 0);
  sums.add(event::first_steals);
}

void worker::drop_dead_entries() {
  // A policy may hold entries until its jobs have run; the bound keeps the engine's end short.
  for (int left = 1000; left > 0 && !engine.jobs.empty(); --left) run_job();
  for (task* t = engine.arrivals.take_all(); t != nullptr;) {
    task& arrived = *std::exchange(t, get_next(*t));
    if ((arrived.flags & task::claimable) != 0 && life::is_dead(arrived.state)) static_cast<void>(take(arrived));
  }
  int rounds = 0;                         // the first round may have begun before the last entries came
  for (int misses = 0; misses < 1000;) {  // the policy may return `later` for a while
    const poll_result polled = engine.policy.next(*this);
    if (polled.kind == poll_result::empty) {
      if (++rounds == 2) return;
    } else if (polled.kind != poll_result::found) {
      ++misses;
    } else if (polled.work->scope->is_cancelled()) {
      requeue(run(*polled.work));  // was left alone; is cancelled, so its body does not run
    } else if (take(*polled.work)) {
      return;  // a task that never ran; its refusal was already reported
    }
  }
}

}  // namespace kith::native
