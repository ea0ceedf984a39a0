// The ends of tasks: of their bodies, of themselves and of scopes, and what they make ready. It follows the native
// engine's task_end.cpp; the order of calls to the policy is the same.
#include "engine/life/claim.hpp"
#include "engine/life/ready_again.hpp"
#include "engine/sim/engine.hpp"
#include "task/turns.hpp"

#include <utility>
#include <vector>

namespace kith::sim {

void engine::end_in_scope(std::uint32_t scope, worker& w) {
  scope_state& s = scopes_[scope];
  if (s.owner == static_cast<std::int32_t>(w.number)) ++s.ended_here;
  if (--s.unfinished == 0 && s.left) left_and_empty_.push_back(scope);
  wake_waiter(scope, w);
}

void engine::wake_waiter(std::uint32_t scope, worker& w) {
  const scope_state& s = scopes_[scope];
  if (s.unfinished != s.held || s.waiter < 0) return;
  worker& waiter = workers_[static_cast<std::size_t>(s.waiter)];
  if (waiter.parked) wake(waiter, w.clock);
}

/// Notes for policies which worker has ended a predecessor. Of more than a task has links, the last ones count.
void engine::note_predecessor_ended(const task_record& r, const worker& w) {
  if (r.slot != nullptr && r.waits_for <= task::embedded_links) r.slot->links[r.waits_for - 1] = task::mark_of(w.id);
}

/// Counts down the successors of `t`. Those that became ready go to batch_, or, if they are fences, to `fences`.
void engine::release(std::int32_t t, worker& w, std::vector<std::int32_t>& fences) {
  for (std::uint32_t link = record_of(t).first_successor; link != 0;) {
    const auto [next, further] = successors_[link - 1];
    const std::uint32_t dependence = std::exchange(link, further) - 1;
    if (network_ && is_released_elsewhere(t, next, dependence, w)) continue;
    task_record& r = record_of(next);
    note_predecessor_ended(r, w);
    if (--r.waits_for != 0) {
      if (r.waits_for == 1) expect_ready(r);
      continue;
    }
    if (r.has(recorded_task::fence)) {
      fences.push_back(next);
    } else if (r.state == task_state::none) {  // a node of a static graph, which is made when it is ready
      spend(w, costs_.create);
      batch_.push_back(&make_policy_task(w, next));
      r.state = task_state::queued;
    } else if (prepare_ready(next)) {
      batch_.push_back(r.slot);
    }
  }
  if (!to_enable_.empty()) send_enables(w);
}

/// The task's body has ended. The task ends now, or when its children have ended.
void engine::end_body(worker& w) {
  const frame& ended = w.frames.back();
  const std::int32_t t = ended.task;
  const std::uint32_t first_scope = ended.first_scope;
  const picoseconds began = ended.began;
  const bool keep_next = !ended.at_creation;
  w.frames.pop_back();
  if (notes_) {
    notes_->ran(t, w.number, began, w.clock);
    note_homes(t, began);
  }
  const task_record& r = record_of(t);
  if (r.has(recorded_task::root)) {
    state_of(t) = task_state::ended;
    if (notes_) notes_->completed(t, w.clock);
    end_root(t, w);
    return;
  }
  w.sums.add(event::task_executed);
  const auto i = static_cast<std::size_t>(t);
  serial_time_ += program_.compute[i] + data_.local(r.bytes, program_.exposure_of(i));
  if (w.group.policy.observes_time())
    w.group.policy.ran(*r.slot, w, static_cast<std::uint64_t>(w.clock - began) / 1000);
  if (first_scope != 0 && leave(w, t, first_scope)) return;
  end(t, w, keep_next);
  end_left(w, keep_next);
}

/// True if children of the task are unfinished; the last of them then ends it.
bool engine::leave(worker& w, std::int32_t t, std::uint32_t first_scope) {
  std::uint32_t left = 0;
  for (std::uint32_t link = first_scope; link != 0; link = scopes_[link - 1].next_of_task) {
    scope_state& s = scopes_[link - 1];
    if (s.unfinished == 0) continue;
    ++left;
    s.left = true;
    s.owner = -1;
    w.group.policy.waiting(w);
    if (!s.leveled) w.adopted.insert(w.adopted.end(), s.children.begin(), s.children.end());
    s.children = {};
  }
  left_scopes_[static_cast<std::size_t>(t)] = left;
  return left != 0;
}

/// Ends the tasks whose bodies ended earlier and whose last child has ended.
void engine::end_left(worker& w, bool keep_next) {
  while (!left_and_empty_.empty()) {
    const std::uint32_t scope = left_and_empty_.back();
    left_and_empty_.pop_back();
    const std::int32_t t = scopes_[scope].task;
    if (--left_scopes_[static_cast<std::size_t>(t)] == 0) end(t, w, keep_next);
  }
}

/// Ends a task whose body and children have ended. Tasks that this makes ready go to the policy; with keep_next, one of
/// them may run next.
void engine::end(std::int32_t t, worker& w, bool keep_next) {
  if (notes_) notes_->completed(t, w.clock);
  task_record& r = record_of(t);
  const bool frees = life::ended(life::sequential_state{r.state});
  r.state = task_state::ended;
  std::vector<std::int32_t> fences;
  batch_.clear();
  release(t, w, fences);
  pass_turns(*r.slot, w);
  report_to_scope(t, w);
  if (frees) forget(t);
  end_fences(fences, w);
  start_released(w, keep_next);
  if (!answered_.empty()) count_down_answered(w);
  if (r.names) make_named_nodes(t, w, keep_next);
}

/// Starts what else the end of the task allows, before its scope learns of the end.
void engine::pass_turns(policy_task& v, worker& w) {
  if ((v.flags & task::exclusive) != 0) {
    const std::size_t known = batch_.size();
    give_turns(regions_, v, batch_);
    for (std::size_t b = known; b < batch_.size(); ++b)
      state_of(as_policy_task(*batch_[b]).number()) = task_state::queued;
  }
  w.group.policy.ended(v, w);
}

/// Tells the task's scope of its end: by a message, if the task that waits for the scope is at another place.
void engine::report_to_scope(std::int32_t t, worker& w) {
  const std::uint32_t scope = record_of(t).scope;
  if (!network_ || home_of(scope) == w.group.place) {
    end_in_scope(scope, w);
  } else if (has_result(t)) {
    send_result(t, w);
  } else {
    end_in_remote_scope(scope, w);
  }
}

/// Fences have no body and end at once.
void engine::end_fences(std::vector<std::int32_t>& fences, worker& w) {
  while (!fences.empty()) {
    const std::int32_t fence = fences.back();
    fences.pop_back();
    state_of(fence) = task_state::ended;
    release(fence, w, fences);
    end_in_scope(record_of(fence).scope, w);
  }
}

/// Hands on what a task that has ended has released. If the policy names a task to run next, a task that was to run
/// next before goes back to the policy.
void engine::start_released(worker& w, bool keep_next) {
  if (batch_.empty()) return;
  const std::int32_t before = std::exchange(w.next, -1);
  make_ready(w, batch_, ready_reason::completion, keep_next);
  if (before < 0) return;
  if (w.next < 0) {
    w.next = before;
  } else {
    requeue(w, before);
  }
}

/// Counts down the waits of tasks that wait, at their creators' place, for the one that has ended.
void engine::count_down_answered(const worker& w) {
  for (const std::int32_t waiting : std::exchange(answered_, {})) count_down_wait(waiting, w.group.place, w.clock);
}

/// Makes the nodes that the task's computation has named, and hands them on. This is the end of end_phase() in the
/// native engine's keyed.cpp.
void engine::make_named_nodes(std::int32_t t, worker& w, bool keep_next) {
  const auto i = static_cast<std::size_t>(t);
  batch_.clear();
  for (std::uint64_t n = program_.first_named[i]; n < program_.first_named[i + 1]; ++n) {
    const std::int32_t node = program_.named[n];
    if (state_of(node) != task_state::none) continue;
    spend(w, costs_.create);
    batch_.push_back(&make_policy_task(w, node));
    state_of(node) = task_state::queued;
  }
  if (batch_.empty()) return;
  const bool explores = record_of(as_policy_task(*batch_.front()).number()).has(recorded_task::keyed);
  const bool keep = w.next < 0 && keep_next;
  make_ready(w, batch_, life::reason_after_naming(!keep, explores), keep);
}

}  // namespace kith::sim
