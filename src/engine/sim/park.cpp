// How idle workers sleep, and how they are woken.
#include "engine/sim/engine.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <string>

namespace kith::sim {

namespace {

/// A worker that parked less than this long ago still spins, and is woken at the cost of an attempt.
constexpr picoseconds spins_for = 50'000'000;

}  // namespace

bool worker::ring(const worker_set& audience) { return engine.ring(*this, audience); }
bool worker::anybody_sleeps() const noexcept { return engine.anybody_sleeps(group); }

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
