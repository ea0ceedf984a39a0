// What a worker does when it finds nothing: it looks for a while, then sleeps until there is work for it, or until its
// wait may continue. docs/sleep.md has the protocol, and why no wake-up is lost; base/sleepers.hpp the words that both
// sides use.
#include "engine/native/engine.hpp"
#include "engine/native/find.hpp"
#include "engine/native/seat_log.hpp"
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

/// How often a worker that does not spin yields its core before it sleeps. Such workers share cores with the progress
/// threads of places: what the worker waits for may need this core, and comes before a sleep and a wake would be over.
constexpr int yields_without_spin = 4;

/// Changes a count while it lives.
class counted {
 public:
  counted(atomic<int>& count, int by) noexcept : count_(count), by_(by) { count_.fetch_add(by_, relaxed); }
  ~counted() { count_.fetch_sub(by_, relaxed); }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

 private:
  atomic<int>& count_;
  const int by_;
};

/// Tells whether this process has left cores idle since the last call. Tasks that block leave them idle; tasks that
/// wait for a core because of other programs do not count.
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

/// The time in which a worker looks for work or sleeps. It does not count as busy, and the scope that it waits for may
/// name it as the sleeper to wake. Both end with this, also if a policy throws.
class worker::rest {
 public:
  rest(worker& resting, detail::scope* awaited) noexcept
      : self_(resting),
        announced_in_(awaited != nullptr && awaited->waiting.load(relaxed) != waiting_outside ? awaited : nullptr) {
    self_.stop_busy();
    self_.resting_ = true;
    if (self_.log != nullptr) [[unlikely]]
      began_ = ticks();
  }
  ~rest() {
    if (announced_in_ != nullptr) announced_in_->waiting.store(0, relaxed);
    self_.resting_ = false;
    self_.start_busy();
    if (self_.log != nullptr) [[unlikely]]
      self_.log->idle(began_);
  }
  rest(const rest&) = delete;
  rest& operator=(const rest&) = delete;
  /// Called before each sleep, before the fence in sleepers::announce() (C2 of scope.hpp).
  void announce_wait() const noexcept {
    if (announced_in_ != nullptr) announced_in_->waiting.store(static_cast<std::uint32_t>(self_.id.value) + 1, relaxed);
  }

 private:
  worker& self_;
  detail::scope* const announced_in_;
  std::uint64_t began_ = 0;
};

/// Called when nothing was found. Keeps looking for a while, then sleeps. Returns with a task, or null: a wait may
/// continue, or half_ is to be run.
task* worker::search_or_park(pending_wait& w) {
  const rest resting(*this, w.scope);  // before the report, so that statistics read after a wait include its time
  report();
  slots.flush([this](std::uint16_t owner) -> slot_cache& { return engine.slots_of(owner); });
  wake_reason woken = wake_reason::none;
  task* t = nullptr;
  try {
    t = search(w, resting, woken);
  } catch (...) {  // of a policy
    if (woken == wake_reason::work) engine.parked.wake_all();
    throw;
  }
  if (woken == wake_reason::work) {
    if (t != nullptr || half_.it != nullptr) {
      engine.parked.found_work();
    } else {  // this worker has not taken the work, and does not know its audience
      engine.parked.wake_all();
    }
  }
  if (claimed_ != nullptr || half_.it != nullptr) engine.policy.idle(*this);  // found without the policy
  return t;
}

/// The loop of search_or_park(). `woken`: why the worker was woken last.
task* worker::search(pending_wait& w, const rest& resting, wake_reason& woken) {
  const counted looks(engine.looking, 1);
  task* t = nullptr;
  int failed_searches = 0;
  bool surplus = false;
  while (!w.is_done() && (w.resumable = ready_to_go_on()) == nullptr && (t = find(w)) == nullptr &&
         !take_half(w, false)) {
    if (pauses_before_next_look(++failed_searches, surplus)) continue;
    w.resumable = ready_to_go_on(true, true);
    if (w.resumable != nullptr) {
      if (surplus) engine.parked.cancel_leave();
      break;
    }
    resting.announce_wait();
    bool left_some = false;
    const last_look seen = announce_and_look(w, std::exchange(surplus, false), t, left_some);
    if (seen == last_look::something) break;
    failed_searches = 0;
    if (seen == last_look::job) continue;
    sums.add(event::park);
    const counted sleeps(engine.looking, -1);
    woken = engine.policy.has_gate() ? sleep_in_order() : sleep(left_some);
  }
  return t;
}

/// Pauses after a look in vain. False if the worker has looked for long enough, and is to sleep. `surplus`: it leaves
/// because more workers are awake than may be.
bool worker::pauses_before_next_look(int failed_searches, bool& surplus) {
  if (failed_searches <= engine.options.spin) {
    surplus = engine.parked.is_surplus();
    if (surplus) return false;
    if (engine.workers.size() > 1) engine.distance.sample(id);
    if (answered_later_) {
      pause_for_long(engine.looking.load(relaxed) - 1);
    } else {
      pause();
    }
    return true;
  }
  if (engine.options.spin != 0 || failed_searches > yields_without_spin) return false;
  std::this_thread::yield();
  return true;
}

/// Takes back that the worker is about to sleep. A wake that has arrived meanwhile, which was for other work, is passed
/// on.
void worker::stay_awake() noexcept {
  if (!engine.parked.retract(id)) engine.parked.wake_all();
}

/// Announces that the worker is about to sleep, and looks everywhere once more. Unless this returns `nothing`, the
/// worker stays awake.
worker::last_look worker::announce_and_look(const pending_wait& w, bool surplus, task*& t, bool& left_some) {
  engine.policy.idle(*this);
  engine.parked.announce(id, surplus);
  if (!engine.jobs.empty()) {
    stay_awake();
    return last_look::job;
  }
  try {
    t = look_everywhere(w, left_some);
  } catch (...) {  // of a policy
    stay_awake();
    throw;
  }
  if (t == nullptr && half_.it == nullptr && !w.is_done() && ready_to_go_on(true) == nullptr) return last_look::nothing;
  stay_awake();
  return last_look::something;
}

/// Looks through a whole round, so that null means that there is no task, or that a wait may continue, or that half_
/// was taken. `left_some`: there is work that it may take later, but as many workers as the bound allows are awake.
task* worker::look_everywhere(const pending_wait& w, bool& left_some) {
  left_some = false;
  if (w.is_done() || ready_to_go_on(true) != nullptr || take_half(w, true)) return nullptr;
  const bool asks_first = w.may_claim_children && w.scope->leveled;  // as in find_child_first()
  if (w.may_claim_children && !asks_first) {
    if (task* t = claim_child(*w.scope, true)) return t;
  }
  // The round that ends with the first `empty` may have begun before this call; the second one is complete.
  constexpr int before_yield = 16;
  for (int empties = 0, laters = 0; empties < 2;) {
    const poll_result polled = engine.policy.next(*this);
    if (polled.kind == poll_result::found) {
      note_found();
      return polled.work;
    }
    empties += polled.kind == poll_result::empty;
    if (w.is_done() || ready_to_go_on(true) != nullptr || take_half(w, false)) return nullptr;
    if (polled.kind != poll_result::later && polled.kind != poll_result::watch) continue;
    const bool has_other_work = !engine.arrivals.empty() || !engine.jobs.empty() || !addressed.empty();
    left_some = !has_other_work && engine.parked.enough_awake();  // one of these, or the watcher, takes it
    if (has_other_work || left_some) {
      engine.policy.idle(*this);  // it may have answered `watch`, and this worker may sleep now
      break;
    }
    pause_for_long(polled.kind == poll_result::later ? engine.looking.load(relaxed) - 1 : 0);
    // The thread that will end the wait may need this core.
    if (++laters % before_yield == 0) std::this_thread::yield();
  }
  if (task* t = asks_first ? claim_child(*w.scope, true) : nullptr) return t;
  return drain_inbox();
}

wake_reason worker::sleep(bool left_some) {
  idle_cores cores(engine.options.awake);
  // A worker that looks will find what is there.
  return engine.parked.sleep(id, left_some, [&] { return cores.are_idle() && engine.looking.load(relaxed) <= 0; });
}

/// The last worker to sleep asks the gate whether it holds tasks back.
wake_reason worker::sleep_in_order() {
  try {
    return engine.together.sleep(id, engine.parked, [this](stall_check::sleep_epoch now) {
      all_slept = now;
      return engine.policy.stalled(*this);
    });
  } catch (...) {  // of the gate or its policy
    stay_awake();
    throw;
  }
}

}  // namespace kith::native
