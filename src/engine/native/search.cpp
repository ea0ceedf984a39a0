// How a worker finds the next task: among children that it may claim, in the policy's queues, in the inbox. And
// how it sleeps when there is none (docs/sleep.md).
#include "base/invariant.hpp"
#include "engine/life/claim.hpp"
#include "engine/life/search_order.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/find.hpp"
#include "engine/native/recorder.hpp"
#include "engine/native/worker.hpp"

#include <ctime>
#include <thread>
#include <utility>

namespace kith::native {

namespace {

/// Pauses after a look whose result was `later`. Each look costs a busy worker a cache miss, so the more workers
/// look, the longer each of them pauses (decisions/short-tasks-are-not-stolen.md).
constexpr int long_pause = 32, pauses_for_each_other = 128;
void pause_for_long(int others) {
  for (int pauses = long_pause + pauses_for_each_other * others; pauses > 0; --pauses) pause();
}

}  // namespace

/// The policy has given an answer without a task.
[[gnu::noinline]] task* worker::found_none(poll_result answer) {
  no_hurry_ = answer.kind == poll_result::later;
  return answer.kind != poll_result::retry ? drain_inbox() : nullptr;
}

/// Children of tasks that ran on top of the wait come before those of the wait itself, because they are newer. Those of
/// other stacks are among them, which may not run on top of the wait: they are left in their queues unless the worker
/// can leave its stack, because what is claimed must run.
[[gnu::noinline]] task* worker::find_child_first(const pending_wait& w) {
  if (adopted_.size() > w.adopted_from && (w.runs_any_task || may_leave_stack(w))) [[unlikely]] {
    if (task* t = claim_adopted(w.adopted_from)) return t;
  }
  if (w.may_claim_children) {
    const bool asks_first = w.scope->leveled;  // only the policy knows which has the highest priority
    if (asks_first) {
      if (task* t = find_anywhere()) return t;
    }
    if (task* t = claim_child(*w.scope, false)) return t;
    if (asks_first) return nullptr;
  }
  return find_anywhere();
}

/// Looks through a whole round, so that null means that there is no task, or that a wait may continue, or that half_
/// was taken. `left_some`: there is work that it may take later, but as many workers as the bound allows are awake.
task* worker::look_everywhere(const pending_wait& w, bool& left_some) {
  left_some = false;
  if (w.is_done() || ready_to_go_on(true) != nullptr || take_half(w, true)) return nullptr;
  if (w.may_claim_children) {
    if (task* t = claim_child(*w.scope, true)) return t;
  }
  // The round that ends with the first `empty` may have begun before this call; the second one is complete.
  constexpr int before_yield = 16;
  for (int empties = 0, laters = 0; empties < 2;) {
    const poll_result l = engine.policy.next(*this);
    if (l.kind == poll_result::found) {
      note_found();
      return l.work;
    }
    empties += l.kind == poll_result::empty;
    if (w.is_done() || ready_to_go_on(true) != nullptr) return nullptr;
    if (l.kind != poll_result::later && l.kind != poll_result::watch) continue;
    if (!engine.arrivals.empty() || !engine.jobs.empty()) break;
    if (engine.parked.enough_awake()) {  // enough workers are awake: one of them, or the watcher, takes it
      left_some = true;
      break;
    }
    pause_for_long(l.kind == poll_result::later ? engine.looking.load(relaxed) - 1 : 0);
    // The thread that will end the wait may need this core.
    if (++laters % before_yield == 0) std::this_thread::yield();
  }
  return drain_inbox();
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
  return edges::generation_of(engine.space[r.index].head.load(acquire)) == r.generation;
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

void worker::drop_dead_entries() {
  // A policy may hold entries until its jobs have run; the bound keeps the engine's end short.
  for (int left = 1000; left > 0 && !engine.jobs.empty(); --left) run_job();
  for (task* t = engine.arrivals.take_all(); t != nullptr;) {
    task& arrived = *std::exchange(t, get_next(*t));
    if ((arrived.flags & task::claimable) != 0 && life::is_dead(arrived.state)) static_cast<void>(take(arrived));
  }
  int rounds = 0;                         // the first round may have begun before the last entries came
  for (int misses = 0; misses < 1000;) {  // the policy may return `later` for a while
    const poll_result l = engine.policy.next(*this);
    if (l.kind == poll_result::empty) {
      if (++rounds == 2) return;
    } else if (l.kind != poll_result::found) {
      ++misses;
    } else if (l.work->scope->is_cancelled()) {
      requeue(run(*l.work));  // was left alone; is cancelled, so its body does not run
    } else if (take(*l.work)) {
      return;  // a task that never ran; its refusal was already reported
    }
  }
}

task* worker::drain_inbox() {
  if (engine.arrivals.empty()) return nullptr;
  std::vector<task*> arrived;
  for (task* t = engine.arrivals.take_all(); t != nullptr; t = get_next(*t)) arrived.push_back(t);
  return arrived.empty() ? nullptr : make_ready(arrived, ready_reason::arrival);
}

/// Runs one job of the policy; leaves further ones to other workers.
void worker::run_job() {
  job<worker_view>* const mine = engine.jobs.take_all();
  if (mine == nullptr) return;
  for (job<worker_view>* next = get_next(*mine); next != nullptr;) {
    job<worker_view>& other = *std::exchange(next, get_next(*next));
    submit(other, engine.workers_where.everybody());
  }
  report();  // C1: the job may take long
  if (resting_) start_busy();
  const job_size size = mine->size();
  const std::uint64_t began = ticks();
  mine->run(*this);
  sums.add(event::job, ticks() - began);
  if (log != nullptr) [[unlikely]]
    log->job(began, size);
  if (resting_) stop_busy();
}

namespace {

/// Counts a worker among those that look for work in vain.
class among_looking {
 public:
  explicit among_looking(atomic<int>& count) noexcept : count_(count) { count_.fetch_add(1, relaxed); }
  ~among_looking() { count_.fetch_sub(1, relaxed); }
  among_looking(const among_looking&) = delete;
  among_looking& operator=(const among_looking&) = delete;
  void sleeps() noexcept { count_.fetch_sub(1, relaxed); }
  void is_awake() noexcept { count_.fetch_add(1, relaxed); }

 private:
  atomic<int>& count_;
};

/// Tells whether this process leaves cores idle: called again and again, whether it did since the last call. Tasks that
/// block leave them idle; tasks that wait for a core because of other programs do not count.
class idle_cores {
 public:
  explicit idle_cores(int cores) noexcept : cores_(cores) {}
  bool are_idle() noexcept {
    const std::int64_t used = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), now = nanoseconds(CLOCK_MONOTONIC);
    const std::int64_t took = now - std::exchange(last_, now), ran = used - std::exchange(used_, used);
    constexpr double slack = 0.75;
    return static_cast<double>(ran) < (cores_ - slack) * static_cast<double>(took);
  }

 private:
  static std::int64_t nanoseconds(clockid_t clock) noexcept {
    timespec t{};
    clock_gettime(clock, &t);
    return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
  }
  int cores_;
  std::int64_t last_ = 0, used_ = 0;
};

}  // namespace

/// Nothing was found. Keeps looking for a while, then sleeps. Returns with a task, or null: a wait may continue, or
/// half_ is to be run.
task* worker::search_or_park(pending_wait& w) {
  stop_busy();  // before the report, so that statistics read after a wait include this time
  resting_ = true;
  const std::uint64_t began = log != nullptr ? ticks() : 0;
  report();
  slots.flush([this](std::uint16_t owner) -> slot_cache& { return engine.slots_of(owner); });
  among_looking counted(engine.looking);
  task* t = nullptr;
  int failed_searches = 0;
  bool left_some = false, surplus = false;
  wake_reason woken = wake_reason::none;
  const bool announces_wait = w.scope != nullptr && w.scope->waiting.load(relaxed) != waiting_outside;
  while (!w.is_done() && (w.resumable = ready_to_go_on()) == nullptr && (t = find(w)) == nullptr &&
         !take_half(w, false)) {
    if (failed_searches++ < engine.options.spin && !(surplus = engine.parked.is_surplus())) {
      if (engine.workers.size() > 1) engine.distance.sample(id);
      if (no_hurry_) {
        pause_for_long(engine.looking.load(relaxed) - 1);
      } else {
        pause();
      }
      continue;
    }
    if ((w.resumable = ready_to_go_on(true, true)) != nullptr) {
      if (surplus) engine.parked.stays();
      break;
    }
    if (announces_wait)
      w.scope->waiting.store(static_cast<std::uint32_t>(id.value) + 1, relaxed);  // C2: before the fence in announce()
    engine.policy.idle(*this);
    engine.parked.announce(id, std::exchange(surplus, false));
    if (!engine.jobs.empty()) {
      if (!engine.parked.retract(id)) engine.parked.wake_all();
      failed_searches = 0;
      continue;
    }
    if ((t = look_everywhere(w, left_some)) != nullptr || half_.it != nullptr || w.is_done() ||
        ready_to_go_on(true) != nullptr) {
      // A wake that came meanwhile was for other work: pass it on.
      if (!engine.parked.retract(id)) engine.parked.wake_all();
      break;
    }
    sums.add(event::park);
    counted.sleeps();
    woken = engine.policy.has_gate() ? sleep_in_order() : sleep(left_some);
    counted.is_awake();
    failed_searches = 0;
  }
  if (woken == wake_reason::work) {
    if (t != nullptr || half_.it != nullptr) {
      engine.parked.found_work();
    } else {  // we have not taken the work, and do not know its audience
      engine.parked.wake_all();
    }
  }
  if (announces_wait) w.scope->waiting.store(0, relaxed);
  resting_ = false;
  start_busy();
  if (log != nullptr) [[unlikely]]
    log->idle(began);
  return t;
}

wake_reason worker::sleep(bool left_some) {
  idle_cores cores(engine.options.awake);
  // A worker that looks will find what is there.
  return engine.parked.sleep(id, left_some, [&] { return cores.are_idle() && engine.looking.load(relaxed) <= 0; });
}

/// The last worker to sleep asks the gate whether it holds tasks back.
wake_reason worker::sleep_in_order() {
  return engine.together.sleep(id, engine.parked, [this](stall_check::sleep_epoch now) {
    all_slept = now;
    return engine.policy.stalled(*this);
  });
}

/// The worker has found its first task of this run.
void worker::note_first_task(std::uint64_t run) noexcept {
  run_seen_ = run;
  if (sums[event::steal] == steals_before_) return;  // its first task was not stolen
  const std::uint64_t began = engine.run_began.load(relaxed), now = ticks();
  sums.add(event::first_steal, now > began ? now - began : 0);
  sums.add(event::first_steals);
}

}  // namespace kith::native
