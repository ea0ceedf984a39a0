// The beginning of a task: its creation by another task or its discovery as a node of a graph, its edges, and
// when it becomes ready. It follows the native engine's create.cpp and keyed.cpp.
#include "base/address.hpp"
#include "engine/life/ready_again.hpp"
#include "engine/sim/engine.hpp"
#include "task/closure_room.hpp"
#include "task/turns.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kith::sim {

/// Whether the creator belongs to the group in which it creates the task.
bool engine::is_member(const task_record& made, std::int32_t creator) const {
  const std::int32_t owner = scopes_[made.scope].task;
  constexpr auto others = recorded_task::keyed | recorded_task::generated | recorded_task::outside;
  return owner >= 0 && owner != creator && (made.flags & others) == 0;
}

/// Whether a task that creates in its group is at the throttle (native::worker::help_to_fill()).
bool engine::is_throttled_member(worker& w, std::uint32_t scope) const {
  if (w.tasks_until_throttle_check-- != 0) return false;
  w.tasks_until_throttle_check = throttle_.member_goes_on_for(false);
  return throttle_.is_reached(scopes_[scope].unfinished);
}

/// The creator helps until the tasks of the scope are fewer.
void engine::begin_help(worker& w, std::uint32_t scope, bool member) {
  frame& f = w.frames.back();
  if (throttle_.is_reached(scopes_[scope].unfinished)) w.sums.add(event::throttled);
  f.state = frame_state::helping;
  f.helps_as_member = member;
  f.failed_searches = 0;
  f.waiting_announced = false;
  f.scope = scope;
  f.adopted_from = w.adopted.size();
}

/// Ends the help of a creator at the throttle. It continues, and checks again after some tasks.
void engine::end_help(worker& w) {
  frame& f = w.frames.back();
  scope_state& s = scopes_[f.scope];
  const bool exceeded = throttle_.is_reached(s.unfinished);
  if (exceeded) w.sums.add(event::throttle_exceeded);
  if (f.helps_as_member) {
    w.tasks_until_throttle_check =
        1 + throttle_.member_goes_on_for(exceeded);  // 1 more, for the check that is repeated at once
  } else {
    s.throttle_at = s.created - s.ended_here + throttle_.owner_goes_on_for(s.unfinished, exceeded);
  }
  f.helps_as_member = false;
  w.group.policy.idle(w);
  f.state = frame_state::running;
}

/// The first step of a creation: its time. At the throttle the creator helps first, and takes this step again.
void engine::pay_for_creation(worker& w, std::int32_t t) {
  frame& f = w.frames.back();
  const task_record& made = record_of(t);
  scope_state& s = scopes_[made.scope];
  const bool member = is_member(made, f.task);
  if (!member) s.owner = static_cast<std::int32_t>(w.number);
  if (s.task < 0) {
    s.task = f.task;
    s.next_of_task = std::exchange(f.first_scope, made.scope + 1);
  }
  if (s.created == 0) s.throttle_at = options_.throttle;
  if (!made.continues && !made.flow) f.created_in = made.scope;
  if (options_.throttle != 0 && !made.continues && !made.flow && !made.has(recorded_task::keyed) &&
      !made.has(recorded_task::generated) &&
      (member ? is_throttled_member(w, made.scope) : s.created - s.ended_here >= s.throttle_at)) {
    begin_help(w, made.scope, member);
    return;
  }
  if (notes_) notes_->creation_began(t, w.clock);
  const std::uint32_t declared = made.end_access - made.first_access;
  spend(w, cost(machine_.costs.create + machine_.costs.dependence * static_cast<double>(declared)));
  expect_predecessors(made);
  f.time_paid = true;
}

/// The second step: the task is made, or offered to its place.
void engine::create_paid(worker& w, std::int32_t t) {
  frame& f = w.frames.back();
  const task_record& made = record_of(t);
  f.time_paid = false;
  ++f.action;
  if (made.has(recorded_task::keyed) || made.has(recorded_task::generated)) {
    make_policy_task(w, t);
    scopes_[made.scope].wanted.push_back(t);
  } else if (network_ && made.continues) {
    continue_later(w, t);
  } else if (network_ && made.flow) {
    add_to_flow(w, t);
  } else if (is_elsewhere(t, w)) {
    offer(w, t);
  } else {
    submit(w, t);
  }
}

policy_task& engine::make_policy_task(worker& w, std::int32_t n) {
  if (record_of(n).state != task_state::none)
    throw error("the recording is damaged: task " + std::to_string(n) + " is created a second time", error_kind::input);
  if (free_slots_.empty()) {
    policy_task* const more = slot_blocks_.emplace_back(std::make_unique<policy_task[]>(slots_at_once)).get();
    for (std::size_t i = slots_at_once; i-- > 0;) free_slots_.push_back(more + i);
  }
  policy_task* const v = free_slots_.back();
  free_slots_.pop_back();
  task_record& t = record_of(n);
  std::span<const program::access> declared;  // empty if they are not needed
  if (policy().needs_accesses() || t.exclusive) declared = accesses(t);
  const bool keyed = t.has(recorded_task::keyed);
  static_cast<detail::kept_hints&>(*v) = {
      .color = t.color,
      .type = t.type,
      .node = t.node < 0 ? task::no_node : static_cast<std::uint8_t>(t.node),
      .priority = static_cast<std::uint8_t>(t.priority & 3),
      .exploring = keyed,
      .colored = keyed && t.color >= 0,
  };
  make_room(*v, {0, 1, declared.size()});
  std::byte* keep = v->access_bytes();
  for (const program::access& a : declared) {
    std::memcpy(keep, &a.kept, sizeof a.kept);
    keep += sizeof a.kept;
  }
  v->set_number(n);
  std::ranges::fill(v->links, 0);
  v->code = nullptr;
  // Only an identity: policies and turns compare scopes, and never read them.
  v->scope = static_cast<detail::scope*>(at_address(std::uintptr_t{t.scope} + 1));
  if (t.exclusive && !policy().has_gate()) v->flags |= task::exclusive;
  v->sequence = sequence_++;
  v->owner = is_elsewhere(n, w) ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(w.id.value);
  t.slot = v;
  t.state = task_state::created;
  if (notes_) notes_->created(n, w.clock);
  w.sums.add(event::task_created);
  scope_state& s = scopes_[t.scope];
  ++s.unfinished;
  ++s.created;
  if (network_ && place_of(n) != home_of(t.scope) && !has_result(n)) ++places_[place_of(n)].open[t.scope].first;
  if (t.has(recorded_task::listed) && !policy().has_gate()) {
    if (s.children.capacity() == 0) s.children.reserve(6);  // as many as the smallest piece of the heap holds
    s.children.push_back(n);
    if (v->has_level()) s.leveled = true;
  }
  return *v;
}

/// Adds the edge of dependence `d`, from `before` to the task `after`.
void engine::add_edge(task_record& before, std::uint32_t d, std::int32_t after) {
  successors_[d] = {after, before.first_successor};
  before.first_successor = d + 1;
}

/// Adds edges from the predecessors that have not ended. True if there are none.
bool engine::link(std::int32_t t) {
  if (network_) return link_among_places(t);
  task_record& after = record_of(t);
  std::uint32_t left = 0;
  for (std::uint32_t d = after.first_dependence; d < after.end_dependence; ++d) {
    task_record& before = record_of(program_.predecessors[d]);
    if (before.state == task_state::ended) continue;
    ++left;
    add_edge(before, d, t);
  }
  after.waits_for = left;
  return left == 0;
}

bool engine::prepare_ready(std::int32_t t) {
  task_record& r = record_of(t);
  policy_task& v = *r.slot;
  name_passers(r);
  if ((v.flags & task::exclusive) != 0 && !take_turns(regions_, v)) return false;
  expect_start(r);
  r.state = task_state::queued;
  return true;
}

void engine::submit(worker& w, std::int32_t t) {
  // Fences made for the task come directly after it in the program.
  for (std::size_t f = static_cast<std::size_t>(t) + 1; f < program_.tasks(); ++f) {
    const auto fence = static_cast<std::int32_t>(f);
    task_record& x = record_of(fence);
    if (!x.has(recorded_task::fence)) break;
    x.state = task_state::created;
    ++scopes_[x.scope].unfinished;
    ++scopes_[x.scope].created;
    if (link(fence)) {
      x.state = task_state::ended;
      end_in_scope(x.scope, w);
    }
  }
  policy_task& v = make_policy_task(w, t);
  const bool free = link(t);
  ++w.frames.back().naming.children;
  if (!record_of(t).has(recorded_task::outside)) w.group.policy.created(v, w);
  if (!free || !prepare_ready(t)) return;
  task* one = &v;
  if (is_member(record_of(t), w.frames.back().task)) {
    batch_.assign(1, one);
    make_ready(w, batch_, ready_reason::arrival, false);
    return;
  }
  task* const now = queue_ready(w, {&one, 1}, ready_reason::creation);
  if (now == nullptr) return;
  w.sums.add(event::task_inlined);
  start(w, as_policy_task(*now).number(), true);
}

void engine::wait(worker& w, std::uint32_t scope) {
  frame& f = w.frames.back();
  ++f.naming.waits;
  f.state = frame_state::waiting;
  f.scope = scope;
  f.wait_began = w.clock;
  f.adopted_from = w.adopted.size();
  scope_state& s = scopes_[scope];
  if (s.unfinished != s.held) w.sums.add(event::stalled);
  if (s.unfinished != s.held || !s.wanted.empty()) w.group.policy.waiting(w);
  s.held = 0;
  if (s.wanted.empty()) return;
  // Nodes of a static graph are known from the start. They are linked backwards, so that release() finds them
  // in their order.
  const auto nodes =
      std::ranges::equal_range(program_.static_graph_nodes, scope, {}, &std::pair<std::uint32_t, std::int32_t>::first);
  if (!nodes.empty() && std::exchange(s.linked, true))
    throw error("the recording is damaged: two graphs have scope " + std::to_string(scope), error_kind::input);
  for (auto n = nodes.end(); n != nodes.begin();) link((--n)->second);
  std::vector<task*> first;
  for (std::int32_t n : s.wanted) {
    state_of(n) = task_state::queued;
    first.push_back(&policy_task_of(n));
  }
  s.wanted.clear();
  task* const next = queue_ready(w, first, ready_reason::discovery);
  if (next != nullptr) w.next = as_policy_task(*next).number();
}

/// The first phase of a keyed node: finds or makes its predecessors.
void engine::explore(worker& w) {
  frame& f = w.frames.back();
  const std::int32_t t = f.task;
  task_record& node = record_of(t);
  const std::span<const std::int32_t> needs = predecessors(node);
  if (!f.time_paid) {
    spend(w, cost(machine_.costs.explore * static_cast<double>(needs.size())));
    expect_predecessors(node);
    f.time_paid = true;
    return;
  }
  batch_.clear();
  for (const std::int32_t before : needs) {
    if (state_of(before) != task_state::none) continue;
    spend(w, costs_.create);
    batch_.push_back(&make_policy_task(w, before));
    state_of(before) = task_state::queued;
  }
  node.explored = true;
  w.sums.add(event::node_explored);
  policy_task& v = *node.slot;
  v.exploring = 0;
  if (notes_) notes_->explored(t, w.number, f.began, w.clock);
  w.frames.pop_back();
  const bool free = link(t);
  node.state = free ? task_state::queued : task_state::created;
  if (program_.found_first[node.scope] != 0) {
    scope_state& s = scopes_[node.scope];
    ++s.held;
    if (free) s.wanted.push_back(t);
    wake_waiter(node.scope, w);
  } else if (free) {
    batch_.push_back(&v);
  }
  if (batch_.empty()) return;
  make_ready(w, batch_, life::reason_after_exploration(batch_, v), true);
}

}  // namespace kith::sim
