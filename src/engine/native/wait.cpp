// What a worker does while what it waits for has not come: run other tasks, look for some, sleep.
#include "engine/native/engine.hpp"
#include "engine/native/worker.hpp"

#include "engine/native/create.hpp"
#include "engine/native/recorder.hpp"

namespace kith::native {

namespace {

/// Stack that must be left for a stranger's task to be run on top of a waiting one; and if nothing else can be done.
constexpr std::uintptr_t stack_reserve = std::uintptr_t{256} * 1024;
constexpr std::uintptr_t last_stack_reserve = std::uintptr_t{64} * 1024;
/// Pauses after a look that was answered with `later`.
constexpr int long_pause = 32;
void pause_for_long() {
  for (int pauses = long_pause; pauses > 0; --pauses) pause();
}
/// Tasks between two looks into the inbox while there is other work.
constexpr std::uint32_t inbox_interval = 64;
/// Tasks between two that are timed, for the mean length.
constexpr std::uint32_t measure_interval = 16;
/// Below this many ticks (about 0.1 us) a task is short: fetching it from another worker costs more.
constexpr std::uint32_t short_task_ticks = 300;

}  // namespace

bool worker::may_nest(bool at_last) const noexcept {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >
         stack_limit + (at_last ? last_stack_reserve : stack_reserve);
}

void worker::wait_for(detail::scope& s, task* first) {
  ++waits;
  const std::uint64_t began = record != nullptr ? ticks() : 0;
  work_until([](const void* waited) { return static_cast<const detail::scope*>(waited)->unfinished() == 0; }, &s, &s,
             first);
  if (record != nullptr) [[unlikely]]
    record->waited(running_ref(), s.serial, began);
  s.emptied();
}

void worker::work_until(predicate done, const void* what, detail::scope* waited, task* first) {
  task* t = first;
  while (!done(what)) {
    if (t == nullptr) t = find(waited);
    t = t != nullptr ? run_measured(*t) : rest(done, what, waited);
  }
  requeue(t);
  if (home.wishes.stops) home.chosen->stops(*this);
  report();  // C1: whoever waited goes on with something else, for who knows how long
}

/// Gives back a task that this worker was to run next; one that it claimed has no way back.
void worker::requeue(task* t) {
  while (t != nullptr) t = t == claimed_ ? run(*t) : make_ready({&t, 1}, moment::arrival);
}

task* worker::run_measured(task& t) {
  if (until_measure_-- != 0) return run(t);
  until_measure_ = measure_interval;
  timing_ = home.wishes.timed && t.exploring == 0;
  const std::uint64_t from = ticks();
  task* next = run(t);
  const std::uint64_t took = std::min<std::uint64_t>(ticks() - from, 1 << 20);
  mean_ticks_ = static_cast<std::uint32_t>((std::uint64_t{mean_ticks_} * 3 + took) / 4);
  short_tasks = mean_ticks_ < short_task_ticks;
  return next;
}

task* worker::find(detail::scope* waited) {
  const bool nest = may_nest();
  if (waited != nullptr && waited->listed) {
    if (task* t = claim_child(*waited, !nest)) return t;
  }
  // With little stack left only own children run, as long as others can do the rest.
  if (nest) return find_anywhere();
  return waited != nullptr && waited->phased ? find_of(*waited) : nullptr;
}

task* worker::find_anywhere() {
  if (!home.jobs.empty()) [[unlikely]] {
    run_job();
    return nullptr;
  }
  if (until_inbox_-- == 0) {
    until_inbox_ = inbox_interval;
    if (task* t = drain_inbox()) return t;
  }
  const look l = home.chosen->next(*this);
  no_hurry_ = l.what == look::later;
  if (l.what == look::found) {
    note_first_steal();
    return l.work;
  }
  return l.what == look::empty ? drain_inbox() : nullptr;
}

/// A task of this scope, where queues may have others first: those are put back.
task* worker::find_of(const detail::scope& s) {
  constexpr std::size_t patience = 64;
  std::vector<task*> strangers;
  task* mine = nullptr;
  while (mine == nullptr && strangers.size() < patience) {
    const look l = home.chosen->next(*this);
    if (l.what == look::empty) break;
    if (l.what != look::found) continue;
    if (l.work->scope == &s) {
      mine = l.work;
    } else {
      strangers.push_back(l.work);
    }
  }
  for (task* t : strangers) requeue(t);
  return mine;
}

/// A whole round, so that "nothing" means nothing; or that done() has become true.
task* worker::look_everywhere(predicate done, const void* what, detail::scope* waited) {
  if (done(what)) return nullptr;
  if (waited != nullptr && waited->listed) {
    if (task* t = claim_child(*waited, true)) return t;
  }
  if (!may_nest(true)) return waited != nullptr && waited->phased ? find_of(*waited) : nullptr;
  // The round that ends with the first `empty` may have begun before: the second one is whole.
  for (int empties = 0; empties < 2;) {
    const look l = home.chosen->next(*this);
    if (l.what == look::found) {
      note_first_steal();
      return l.work;
    }
    empties += l.what == look::empty;
    if (done(what)) return nullptr;
    if (l.what != look::later) continue;
    if (!home.arrivals.empty() || (may_nest() && !home.jobs.empty())) break;
    pause_for_long();
  }
  return drain_inbox();
}

/// A child that is queued, newest first; with `all`, also those older than one that is not ready. Stale entries of the
/// list are recognised by their generation; should a slot be reused between the look and the claim, what is claimed is
/// another queued task: just as good.
task* worker::claim_child(detail::scope& s, bool all) {
  while (!s.children.empty()) {
    const reference r = s.children.back();
    task& t = home.space[r.index];
    const bool alive = edges::generation_of(t.head.load(acquire)) == r.generation;
    // Waits for siblings: older children may be what it waits for.
    if (alive && t.state.load(relaxed) == task_state::created) break;
    const bool got = alive && claim(t);
    s.children.pop_back();
    if (got) return &t;
  }
  for (std::size_t i = all ? s.children.size() : 0; i-- > 0;) {
    task& t = home.space[s.children[i].index];
    if (!claim(t)) continue;
    s.children[i] = s.children.back();
    s.children.pop_back();
    return &t;
  }
  return nullptr;
}

/// Takes a queued task past its queue.
bool worker::claim(task& t) {
  task_state now = task_state::queued;
  if (t.state.load(relaxed) != now || !t.state.compare_exchange_strong(now, task_state::claimed, acq_rel, relaxed)) {
    return false;
  }
  sums.add(event::claimed);
  claimed_ = &t;
  return true;
}

task* worker::drain_inbox() {
  if (home.arrivals.empty()) return nullptr;
  std::vector<task*> arrived;
  for (task* t = home.arrivals.take_all(); t != nullptr; t = get_next(*t)) arrived.push_back(t);
  return arrived.empty() ? nullptr : make_ready(arrived, moment::arrival);
}

/// One job of the policy; others are left to other workers.
void worker::run_job() {
  job<worker_view>* const mine = home.jobs.take_all();
  if (mine == nullptr) return;
  for (job<worker_view>* next = get_next(*mine); next != nullptr;) {
    job<worker_view>& other = *std::exchange(next, get_next(*next));
    submit(other, home.workers_where.everybody());
  }
  report();  // C1: it may take long
  if (resting_) start_busy();
  const job_size size = mine->size();
  const std::uint64_t began = ticks();
  mine->run(*this);
  sums.add(event::job, ticks() - began);
  if (record != nullptr) [[unlikely]]
    record->job(began, size);
  if (resting_) stop_busy();
}

/// Nothing was found. Looks on for a while, then sleeps; returns with work, or when done() is true.
task* worker::rest(predicate done, const void* what, detail::scope* waited) {
  stop_busy();  // before the report: who reads statistics after a wait finds it booked
  resting_ = true;
  const std::uint64_t began = record != nullptr ? ticks() : 0;
  report();
  slots.flush([this](std::uint16_t owner) -> slot_cache& { return home.slots_of(owner); });
  task* t = nullptr;
  int looks = 0;
  wake_reason woken = wake_reason::none;
  while (!done(what) && (t = find(waited)) == nullptr) {
    if (looks++ < home.set.spin) {
      if (no_hurry_) {
        pause_for_long();
      } else {
        pause();
      }
      continue;
    }
    if (waited != nullptr && waited->waiting.load(relaxed) != waiting_outside) {
      waited->waiting.store(static_cast<std::uint32_t>(id.value) + 1, relaxed);  // C2: before the fence in announce()
    }
    if (home.wishes.stops) home.chosen->stops(*this);
    home.parked.announce(id);
    if (may_nest() && !home.jobs.empty()) {
      if (!home.parked.retract(id)) home.parked.wake_all();
      looks = 0;
      continue;
    }
    if ((t = look_everywhere(done, what, waited)) != nullptr || done(what)) {
      // A wake that came meanwhile was meant for other work: pass it on.
      if (!home.parked.retract(id)) home.parked.wake_all();
      break;
    }
    sums.add(event::park);
    woken = home.wishes.order ? sleep_in_order() : home.parked.sleep(id);
    looks = 0;
  }
  // We were woken for work that we now leave to others, and do not know who may take it.
  if (woken == wake_reason::work && t == nullptr) home.parked.wake_all();
  if (waited != nullptr && waited->waiting.load(relaxed) != waiting_outside) waited->waiting.store(0, relaxed);
  resting_ = false;
  start_busy();
  if (record != nullptr) [[unlikely]]
    record->idle(began);
  return t;
}

/// The last one to sleep asks the policy whether it holds tasks back, unless a future is waited for, which may be somebody
/// else's. All are announced, and none has left since they were counted: one that had been woken could have come back to
/// announce itself, and be about to look. acq_rel: whoever slept before, and what it pushed or woke until then, is seen.
wake_reason worker::sleep_in_order() {
  constexpr std::uint64_t one = 1, left = std::uint64_t{1} << 32;
  asleep_at_stall = home.asleep.fetch_add(one, acq_rel) + one;
  if (home.awaiting.load(relaxed) == 0 && static_cast<std::uint32_t>(asleep_at_stall) == home.workers.size() &&
      home.parked.all_announced() && all_sleep() && home.chosen->stalled(*this))
    home.parked.wake_all();
  const wake_reason why = home.parked.sleep(id);
  home.asleep.fetch_add(left - one, acq_rel);
  return why;
}

void worker::note_first_steal() noexcept {
  const std::uint64_t run = home.run_number.load(relaxed);
  const std::uint64_t steals = sums[event::steal];
  const bool stolen = std::exchange(steals_seen_, steals) != steals;
  if (run == run_seen_) return;
  run_seen_ = run;
  if (!stolen) return;  // it had work without stealing
  const std::uint64_t began = home.run_began.load(relaxed), now = ticks();
  sums.add(event::first_steal, now > began ? now - began : 0);
  sums.add(event::first_steals);
}

void worker::help(detail::scope& s) {
  constexpr int patience = 256;
  const std::uint64_t bound = home.set.throttle != 0 ? home.set.throttle : ~std::uint64_t{0};
  const std::uint64_t bytes = home.set.throttle_bytes != 0 ? home.set.throttle_bytes : ~std::uint64_t{0};
  auto over = [&] { return s.unfinished() >= bound || s.unfinished_bytes() >= bytes; };
  if (over()) sums.add(event::throttled);
  task* t = nullptr;
  int looks = 0;
  bool told = false;
  // Down to half the bound, so that the next look is far.
  auto far_below = [&] { return s.unfinished() < bound - bound / 2 && s.unfinished_bytes() < bytes - bytes / 2; };
  while (!far_below() && looks < patience) {
    if (t == nullptr) t = find(&s);
    if (t != nullptr) {
      t = run_measured(*t);
      looks = 0;
    } else {
      report();
      pause();
      if (++looks == patience && !std::exchange(told, true)) {  // the policy may hold tasks back
        home.chosen->waiting(s, *this);
        looks = 0;
      }
    }
  }
  requeue(t);
  if (home.wishes.stops) home.chosen->stops(*this);
  report();
  const bool exceeded = over();
  if (exceeded) sums.add(event::throttle_exceeded);
  // not_ended_here() counts too much by what others have ended; look again when it has grown by what is left.
  const std::uint64_t left = exceeded ? 1 + bound / 4 : bound - s.unfinished();
  const std::uint64_t now = s.not_ended_here();
  s.throttle_at = left > ~now ? ~std::uint64_t{0} : now + left;
}

}  // namespace kith::native
