// When the members of a program begin. The roots of a member run one after the other on one worker. First come the
// roots before the last marks, on worker 0, one member after the other. Then the figures begin and all members start,
// each on a worker of its own as long as there are enough of them.
//
// A worker does not interrupt a task to begin a root, but begins one while it waits. So a member whose worker computes
// starts when that task has ended.
#include "engine/sim/engine.hpp"

#include <algorithm>

namespace kith::sim {

void engine::set_start_event(std::size_t member, picoseconds start) {
  events_.set(static_cast<std::uint32_t>(workers_.size() + prefetchers_.size() + member), start);
}

/// Begins the figures, and starts the members, at once or staggered.
void engine::start_members(const worker& w) {
  measure_from_here();
  started_ = true;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    members_[k].starts = w.clock + k * options_.stagger;
    if (members_.size() > 1) set_start_event(k, members_[k].starts);
  }
}

/// Wakes the worker of a member that is to start, if it is asleep.
void engine::wake_for_root(std::size_t member, picoseconds now) {
  ++events_taken_;
  set_start_event(member, event_queue::never);
  worker& w = workers_[members_[member].root_worker];
  if (w.parked) wake(w, now);
}

bool engine::try_begin_root(worker& w) {
  const bool waits = !w.frames.empty();
  if (waits && w.frames.back().state != frame_state::waiting) return false;
  if (!started_) {
    if (w.number != 0 || waits || !w.suspended.empty()) return false;
    for (std::size_t k = 0; k < members_.size(); ++k) {
      if (members_[k].next_root == program_.members[k].measured_from) continue;
      begin_root(w, k);
      return true;
    }
    start_members(w);
  }
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const member_state& m = members_[k];
    if (m.root_worker != w.number || m.runs || m.next_root == program_.members[k].end_root || w.clock < m.starts)
      continue;
    if (w.next >= 0) return false;  // that task runs first
    const auto is_of_member = [&](const frame_stack& s) {
      return program_.member_of(static_cast<std::size_t>(s.front().task)) == k;
    };
    if (std::ranges::any_of(w.suspended, is_of_member)) continue;  // a stack still waits in the member's previous root
    if (waits) {
      leave_stack(w);
      w.fresh_adopted_from = w.adopted.size();
    }
    begin_root(w, k);
    return true;
  }
  return false;
}

void engine::begin_root(worker& w, std::size_t member) {
  const bool alone = std::ranges::none_of(members_, &member_state::runs);
  member_state& m = members_[member];
  const std::int32_t t = program_.roots[m.next_root++];
  m.runs = true;
  --unbegun_;
  if (alone) {  // else members share a run
    for (policy_group& g : groups_) g.policy.run_began();
    for (worker& x : workers_) x.has_worked = false;
    run_began_ = w.clock;
  }
  state_of(t) = task_state::running;
  frame f(t, record_of(t).first_action, w.clock);
  f.fetched = true;
  if (lines_) f.stack_base = lines_in_use(w, t);
  if (policy().has_gate()) f.naming.self = identities_.identity_of(t);
  note_worker(t, w);
  w.frames.push_back(f);
}

void engine::end_root(std::int32_t t, const worker& w) {
  const std::size_t k = program_.member_of(static_cast<std::size_t>(t));
  member_state& m = members_[k];
  m.runs = false;
  m.ended = w.clock;
  unbegun_ += m.next_root != program_.members[k].end_root;
  done_ = unbegun_ == 0 && std::ranges::none_of(members_, &member_state::runs);
}

}  // namespace kith::sim
