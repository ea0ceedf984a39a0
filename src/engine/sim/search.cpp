// What workers do that have nothing to do: claim, ask the policy, sleep; and who wakes them.
#include "engine/sim/engine.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <bit>

namespace kith::sim {

namespace {

/// A worker that has found nothing for a short while still looks; later it sleeps.
constexpr picoseconds spins_for = 50'000'000;
/// Longest pause between two attempts, and looks of a helping creator before it goes on.
constexpr picoseconds longest_pause = 20'000'000;
constexpr int patience = 256;
/// Time passes even where nothing costs any.
constexpr picoseconds instant = 1000;

}  // namespace

bool worker::ring(const worker_set& audience) { return home.ring(*this, audience); }
void worker::refuse(task& t, const std::string& why) { home.refuse(t, why); }
void worker::submit(job<plain::worker_view>& j, const worker_set& audience) { home.submit(*this, j, audience); }
void worker::charge(event e, worker_id owner) {
  if (e == event::push || e == event::pop || e == event::steal) home.charge(*this, e, owner);
}

void engine::refuse(task& t, const std::string& why) const {
  const std::int32_t n = visible(t).number();
  throw error("task " + std::to_string(n) + " (" + program_.type_name(static_cast<std::size_t>(n)) + ") " + why);
}

picoseconds engine::far_cost(picoseconds near, const worker& by, worker_id owner) const {
  const int distance = owner && set_.with.latency ? team_.distance(by.node, team_.node_of(owner)) : 10;
  return near * static_cast<picoseconds>(distance) / 10;
}

/// Looks are paid before they are made (look_for_work): a pop or a failed attempt costs nothing here, but the time that
/// somebody else needs the queue.
void engine::charge(worker& by, event e, worker_id owner) {
  if (e == event::steal && set_.keep_schedule) {
    schedule_.steals.push_back(
        {static_cast<std::int16_t>(by.id.value), static_cast<std::int16_t>(owner.value), by.clock / 1000});
  }
  if (!set_.with.scheduling) return;
  picoseconds took = 0;
  switch (e) {
    case event::push: took = far_cost(costs_.push, by, owner); break;
    case event::steal: took = far_cost(costs_.steal, by, owner); break;
    default: break;
  }
  if (!owner && set_.with.contention) {  // a queue of several: one at a time
    picoseconds& free = queue_free_[by.here()];
    const picoseconds waited = free > by.clock ? free - by.clock : 0;
    free = by.clock + waited + (e == event::pop ? costs_.pop : costs_.push) / 2;
    took += waited;
  }
  spend(by, took);
}

bool engine::ring(worker& by, const worker_set& audience) {
  for (std::size_t i = 0; i < parked_words_.size(); ++i) {
    const std::uint64_t found = parked_words_[i] & audience.word(i);
    if (found == 0) continue;
    wake(workers_[i * 64 + static_cast<std::size_t>(std::countr_zero(found))], by.clock);
    by.sums.add(event::wake);
    return true;
  }
  // Whoever is in its last round before it sleeps begins it anew: it may be past the queue that was rung for.
  for (std::size_t i = 0; i < last_round_words_.size(); ++i) {
    const std::uint64_t found = last_round_words_[i] & audience.word(i);
    last_round_words_[i] &= ~found;
    for (std::uint64_t rest = found; rest != 0; rest &= rest - 1)
      workers_[i * 64 + static_cast<std::size_t>(std::countr_zero(rest))].empties = 0;
  }
  return false;
}

void engine::wake(worker& w, picoseconds at) {
  const picoseconds latency = at < w.parked_at + spins_for ? costs_.attempt : costs_.wake;
  ++events_taken_;
  w.parked = false;
  parked_words_[w.id.index() / 64] &= ~(std::uint64_t{1} << (w.id.index() % 64));
  w.clock = std::max(w.clock, at) + std::max(latency, instant);
  if (set_.keep_schedule)
    schedule_.idles.push_back({static_cast<std::int16_t>(w.id.value), w.parked_at / 1000, w.clock / 1000});
  w.ready_to_look = true;
  w.empties = 0;
  events_.set(static_cast<std::uint32_t>(w.id.value), w.clock);
}

void engine::submit(worker& by, job<plain::worker_view>& j, const worker_set& audience) {
  jobs_.push_back(&j);
  ring(by, audience);
}

/// The time first, the effect then.
void engine::begin_job(worker& w) {
  w.doing_job = jobs_.front();
  jobs_.pop_front();
  w.of_job = w.doing_job->size();
  w.job_began = w.clock;
  const picoseconds took = cost(static_cast<double>(w.of_job.nanoseconds));
  w.clock += took;
  partition_ += took;
  w.fails = w.empties = 0;
}

void engine::end_job(worker& w) {
  if (set_.keep_schedule) {
    schedule_.jobs.push_back({static_cast<std::int16_t>(w.id.value), w.of_job.tasks, w.of_job.dependences,
                              w.job_began / 1000, w.clock / 1000});
  }
  std::exchange(w.doing_job, nullptr)->run(w);
}

void engine::park(worker& w) {
  w.parked = true;
  w.parked_at = w.clock;
  w.sums.add(event::park);
  parked_words_[w.id.index() / 64] |= std::uint64_t{1} << (w.id.index() % 64);
  if (!w.frames.empty()) scopes_[w.frames.back().scope].waiter = w.id.value;
}

/// A creator at the throttle helps down to half of it.
bool engine::over(std::uint32_t scope) const {
  return scopes_[scope].unfinished >= (std::uint64_t{set_.throttle} + 1) / 2;
}

/// A queued child of the scope, newest first; with `all`, also one that is older than one that is not ready.
std::int32_t engine::claim_child(std::uint32_t scope, bool all) {
  std::vector<std::int32_t>& children = scopes_[scope].children;
  const auto claim = [&](std::int32_t t) {
    if (state_of(t) != state::queued) return false;
    state_of(t) = state::claimed;
    return true;
  };
  while (!children.empty()) {
    const std::int32_t t = children.back();
    if (state_of(t) == state::created) break;
    children.pop_back();
    if (claim(t)) return t;
  }
  for (std::size_t i = all ? children.size() : 0; i-- > 0;) {
    const std::int32_t t = children[i];
    if (!claim(t)) continue;
    children[i] = children.back();
    children.pop_back();
    return t;
  }
  return -1;
}

void engine::look_for_work(worker& w) {
  const bool waits = !w.frames.empty();
  if (!w.ready_to_look) {
    picoseconds pause = w.fails == 0 ? costs_.pop : costs_.attempt;
    if (w.fails > 1) pause = std::min(pause << std::min(w.fails - 1, 8), std::max(longest_pause, pause));
    w.clock += std::max(pause, w.fails == 0 ? picoseconds{0} : instant);
    if (w.fails == 0) w.overhead += pause;
    w.ready_to_look = true;
    return;
  }
  w.ready_to_look = false;
  if (!jobs_.empty()) {
    begin_job(w);
    return;
  }
  if (waits) {
    if (const std::int32_t child = claim_child(w.frames.back().scope, w.empties != 0); child >= 0) {
      w.sums.add(event::claimed);
      w.claimed = child;
      w.fails = w.empties = 0;
      start(w, child);
      return;
    }
  }
  const look l = policy_->next(w);
  if (l.what == look::found) {
    w.fails = w.empties = 0;
    if (waits) w.frames.back().looks = 0;
    const bool stolen = std::exchange(w.steals_seen, w.sums[event::steal]) != w.sums[event::steal];
    if (!w.worked) {
      w.worked = true;
      w.stole = stolen;
      w.first_steal = w.clock - from_.at;
    }
    start(w, visible(*l.work).number());
    return;
  }
  ++w.fails;
  if (waits && w.frames.back().now == doing::helping) {
    frame& f = w.frames.back();
    if (++f.looks < patience && l.what != look::empty) return;
    if (!std::exchange(f.told, true)) {  // the policy may hold tasks back
      policy_->waiting(no_scope_, w);
      f.looks = 0;
      return;
    }
    scope_state& s = scopes_[w.frames.back().scope];
    const bool exceeded = s.unfinished >= set_.throttle;
    if (exceeded) w.sums.add(event::throttle_exceeded);
    s.throttle_at = s.created - s.ended_here + (exceeded ? 1 + set_.throttle / 4 : set_.throttle - s.unfinished);
    policy_->stops(w);
    w.frames.back().now = doing::running;
    w.fails = 0;
    return;
  }
  if (l.what != look::empty) return;
  // The round that ends with the first `empty` may have begun before somebody pushed: the second one is whole.
  if (++w.empties < 2) {
    last_round_words_[w.id.index() / 64] |= std::uint64_t{1} << (w.id.index() % 64);
    return;
  }
  w.empties = 0;
  park(w);
}

void engine::starved() {
  policy_->stalled(workers_.front());  // throws, if it holds tasks back
  std::string text = "the run starves: nobody can go on, and ";
  std::size_t left = 0;
  std::string some;
  for (std::size_t i = 0; i < program_.tasks(); ++i) {
    if (records_[i].now == state::none || records_[i].now == state::ended || records_[i].now == state::running)
      continue;
    if (++left > 5) continue;
    some += "\n  task " + std::to_string(i) + " (" + program_.type_name(i) + ")";
    if (records_[i].now == state::queued) {
      some += " is in a queue that nobody looks into";
    } else {
      some += " waits for";
      for (const recorded_dependence& d : program_.dependences(i)) {
        if (state_of(d.before) != state::ended)
          some +=
              " task " + std::to_string(d.before) + " (" + program_.type_name(static_cast<std::size_t>(d.before)) + ")";
      }
    }
  }
  throw error(text + std::to_string(left) + " tasks are left:" + some);
}

}  // namespace kith::sim
