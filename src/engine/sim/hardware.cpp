// How workers use the scheduling unit: requests, prefetched tasks, requests that wait, and ready tasks that find its
// queues full (unit.hpp).
#include "base/invariant.hpp"
#include "engine/life/ready_again.hpp"
#include "engine/sim/engine.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

namespace kith::sim {

/// Counts a message between the worker and the unit.
void engine::count_message(const worker& w, bool to_unit, int bytes) {
  const node_id from = to_unit ? w.node : unit_->node(), to = to_unit ? unit_->node() : w.node;
  if (memory_) memory_->links.notify(from, to, static_cast<std::uint64_t>(bytes));
  if (lines_) lines_->network.notify(from, to, static_cast<std::uint64_t>(bytes));
}

/// Pushes a task to the unit. The worker does not wait for the unit.
void engine::push_to_unit(worker& w) {
  count_message(w, true, machine_.unit.descriptor_bytes);
  unit_->serve(w.clock + unit_->travel(w.node));
}

/// Called when the worker wants a task. It continues when the unit has looked for one, or when its prefetched task has
/// arrived.
void engine::request_from_unit(worker& w) {
  prefetcher& ahead = prefetchers_[w.number];
  const picoseconds before = w.clock;
  if (!ahead.buffer.empty()) {
    w.clock = std::max(w.clock, ahead.buffer.front().arrives);
    w.search_paid = true;
  } else if (ahead.current == prefetcher::prefetch_state::requests ||
             ahead.current == prefetcher::prefetch_state::served) {
    w.clock = std::max(w.clock, ahead.due);
  } else if (w.request == request_state::arrives) {
    w.request = request_state::waits;
    w.clock = unit_->serve(w.clock);
    w.search_paid = true;
  } else if (w.request == request_state::waits || ahead.current == prefetcher::prefetch_state::waits) {
    // The prefetcher's request becomes the worker's own. It waits in the unit, which has no task for it yet.
    ahead.current = prefetcher::prefetch_state::idle;
    w.request = request_state::waits;
    w.clock += least_step;
    w.search_paid = true;
  } else {
    count_message(w, true, machine_.unit.message_bytes);
    w.request = request_state::arrives;
    w.clock += unit_->travel(w.node);
  }
  w.overhead += w.clock - before;
}

/// Asks the policy for a task at `now`, for the worker or its prefetcher. The unit searches all queues in one
/// operation.
poll_result engine::poll_unit(worker& w, picoseconds now) {
  poll_result polled = w.group.policy.next(w);
  for (std::size_t attempts = 1; polled.kind == poll_result::retry && attempts < 2 * workers_.size(); ++attempts)
    polled = w.group.policy.next(w);
  if (!unit_->has_bound()) return polled;
  if (polled.kind == poll_result::found) {
    KITH_INVARIANT(unit_->held != 0, "a task that is found was queued");
    --unit_->held;
  }
  read_tasks(w, now);
  return polled;
}

/// Gives ready tasks to the policy, as far as the unit's queues have room. The others go to memory, after those that
/// are there. Returns the task that the policy wants to run next.
task* engine::queue_ready(worker& w, std::span<task* const> tasks, ready_reason why) {
  if (!unit_ || !unit_->has_bound()) return w.group.policy.ready(tasks, w, why);
  const std::size_t fit = std::min(tasks.size(), unit_->room());
  for (task* t : tasks.subspan(fit)) {
    push_to_unit(w);
    unit_->in_memory.push_back(t);
    ++unit_->spills;
  }
  if (fit == 0) return nullptr;
  unit_->held += fit;
  task* const next = w.group.policy.ready(tasks.first(fit), w, why);
  if (next != nullptr) --unit_->held;
  return next;
}

/// Fills the unit's queues from memory. For the policy the tasks come from this worker, whose request has made room.
void engine::read_tasks(worker& w, picoseconds now) {
  for (std::size_t n = unit_->missing(); n != 0; n = unit_->missing()) {
    // Idle workers are woken when memory has answered, whatever this worker's own time is.
    const picoseconds own = std::exchange(w.clock, unit_->read_line(now));
    std::vector<task*> read;
    for (; read.size() < n; unit_->in_memory.pop_front()) read.push_back(unit_->in_memory.front());
    unit_->held += n;
    unit_->reads = true;
    const auto ready = [&w](std::span<task* const> tasks, ready_reason why) {
      return w.group.policy.ready(tasks, w, why);
    };
    if (task* const unqueued = life::give_back(ready(read, ready_reason::arrival), ready)) {
      --unit_->held;
      w.unqueued.push_back(as_policy_task(*unqueued).number());
    }
    unit_->reads = false;
    w.clock = own;
  }
}

/// Called when the answer to the worker's own request arrives.
void engine::receive_from_unit(worker& w) {
  w.request = request_state::none;
  count_message(w, false, machine_.unit.descriptor_bytes);
  spend(w, unit_->travel(w.node));
  request_ahead(w, w.clock);
}

/// The first task of the worker's buffer; -1 if it is empty.
std::int32_t engine::take_prefetched(worker& w) {
  std::deque<prefetcher::fetched_task>& buffer = prefetchers_[w.number].buffer;
  if (buffer.empty()) return -1;
  const std::int32_t t = buffer.front().task;
  buffer.pop_front();
  request_ahead(w, w.clock);
  return t;
}

/// The worker's prefetcher sends a request at `now` if it has room for a task.
void engine::request_ahead(worker& w, picoseconds now) {
  prefetcher& p = prefetchers_[w.number];
  if (p.current != prefetcher::prefetch_state::idle || p.buffer.size() >= unit_->buffered()) return;
  count_message(w, true, machine_.unit.message_bytes);
  p.current = prefetcher::prefetch_state::requests;
  p.due = now + unit_->travel(w.node);
  set_prefetch_event(w, p.due);
}

void engine::set_prefetch_event(const worker& w, picoseconds due) {
  events_.set(static_cast<std::uint32_t>(workers_.size()) + w.number, due);
}

/// Called when the prefetcher's request has arrived, or the unit has looked for a task.
void engine::step_prefetcher(worker& w, picoseconds now) {
  prefetcher& p = prefetchers_[w.number];
  ++events_taken_;
  if (p.current == prefetcher::prefetch_state::requests) {
    p.current = prefetcher::prefetch_state::served;
    p.due = unit_->serve(now);
    set_prefetch_event(w, p.due);
    return;
  }
  set_prefetch_event(w, event_queue::never);
  const poll_result polled = poll_unit(w, now);
  if (polled.kind != poll_result::found) {
    p.current = prefetcher::prefetch_state::waits;
    return;
  }
  p.current = prefetcher::prefetch_state::idle;
  count_message(w, false, machine_.unit.descriptor_bytes);
  const picoseconds arrives = now + unit_->travel(w.node);
  p.buffer.push_back({as_policy_task(*polled.work).number(), arrives});
  request_ahead(w, arrives);
}

/// Worker `w` has queued work: answers the waiting request of an idle worker of `audience`, or, if no worker at all
/// is idle, of a prefetcher there. False if there is none.
bool engine::answer_waiting_request(const worker& w, const worker_set& audience) {
  const picoseconds arrives = w.clock + unit_->travel(w.node);
  if (const worker_id found = w.group.parked.first_common(audience)) {
    worker& idle = workers_[found.index()];
    const picoseconds done = unit_->serve(arrives);
    wake_at(idle, std::max(idle.clock, done));
    return true;
  }
  if (!w.group.parked.empty()) return false;
  for (std::size_t i = 0; i < prefetchers_.size(); ++i) {
    prefetcher& p = prefetchers_[i];
    if (p.current != prefetcher::prefetch_state::waits || !audience.contains(worker_id(static_cast<std::int32_t>(i))))
      continue;
    p.current = prefetcher::prefetch_state::served;
    p.due = unit_->serve(arrives);
    set_prefetch_event(workers_[i], p.due);
    return true;
  }
  return false;
}

}  // namespace kith::sim
