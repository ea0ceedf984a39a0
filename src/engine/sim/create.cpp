// The beginning of a task: created by another, or found as the node of a graph; its edges; the moment it is ready. The
// native engine's create.cpp and keyed.cpp are the pattern.
#include "base/address.hpp"
#include "engine/sim/engine.hpp"
#include "task/closure_room.hpp"
#include "task/turns.hpp"

#include <algorithm>
#include <cstring>

namespace kith::sim {

void engine::create(worker& w, std::int32_t t) {
  frame& f = w.frames.back();
  scope_state& s = scopes_[told(t).scope];
  if (!f.charged) {
    s.owner = w.id.value;
    if (s.created == 0) s.throttle_at = set_.throttle;
    f.created_in = told(t).scope;
    if (set_.throttle != 0 && !told(t).has(recorded_task::keyed) && s.created - s.ended_here >= s.throttle_at) {
      w.sums.add(event::throttled);
      f.now = doing::helping;
      f.looks = 0;
      f.told = false;
      f.scope = told(t).scope;
      return;
    }
    note_begin(w, t);
    const auto declared = program_.accesses(static_cast<std::size_t>(t)).size();
    spend(w, cost(on_.costs.create + on_.costs.dependence * static_cast<double>(declared)));
    f.charged = true;
    return;
  }
  f.charged = false;
  ++f.action;
  if (told(t).has(recorded_task::keyed) || told(t).has(recorded_task::generated)) {
    make_visible(w, t);
    s.wanted.push_back(t);
  } else {
    submit(w, t);
  }
}

visible_task& engine::make_visible(worker& by, std::int32_t n) {
  visible_task* v;
  if (free_.empty()) {
    v = &room_.emplace_back();
  } else {
    v = free_.back();
    free_.pop_back();
  }
  const recorded_task& t = told(n);
  const auto accesses = program_.accesses(static_cast<std::size_t>(n));
  make_room(*v, 0, 1, accesses.size());
  std::byte* keep = v->access_bytes();
  for (const recorded_access& a : accesses) {
    const kept_access kept{a.region + 1, static_cast<std::uint32_t>(a.bytes), static_cast<std::uint16_t>(a.bytes >> 32),
                           static_cast<mode>(a.mode), 0};
    std::memcpy(keep, &kept, sizeof kept);
    keep += sizeof kept;
    if (kept.how == mode::commutative && !wishes_.order) v->flags |= task::exclusive;
  }
  v->number = n;
  v->code = nullptr;
  // Policies and turns tell scopes apart, and look into none.
  v->scope = static_cast<detail::scope*>(at_address(std::uintptr_t{t.scope} + 1));
  v->color = color_of(n);
  v->node = t.node < 0 ? task::no_node : static_cast<std::uint8_t>(node_of(n));
  v->type = t.type;
  v->exploring = t.has(recorded_task::keyed) ? 1 : 0;
  v->colored = v->exploring != 0 && t.color >= 0 ? 1 : 0;
  if (t.priority == 1) v->flags |= task::high;
  if (t.priority == 2) v->flags |= task::low;
  v->sequence = sequence_++;
  v->owner = static_cast<std::uint16_t>(by.id.value);
  visible_[static_cast<std::size_t>(n)] = v;
  state_of(n) = state::created;
  note_birth(by, n);
  by.sums.add(event::task_created);
  scope_state& s = scopes_[t.scope];
  ++s.unfinished;
  ++s.created;
  if (t.has(recorded_task::listed) && !wishes_.order) s.children.push_back(n);
  return *v;
}

/// Edges to the predecessors that have not ended. True if there are none.
bool engine::link(std::int32_t t) {
  const auto i = static_cast<std::size_t>(t);
  std::uint32_t left = 0;
  for (std::uint64_t d = program_.of.first_dependence[i]; d < program_.of.first_dependence[i + 1]; ++d) {
    const std::int32_t before = program_.of.dependences[d].before;
    if (state_of(before) == state::ended) continue;
    ++left;
    next_successor_[d] = first_successor_[static_cast<std::size_t>(before)];
    first_successor_[static_cast<std::size_t>(before)] = static_cast<std::uint32_t>(d) + 1;
  }
  join_[i] = left;
  return left == 0;
}

bool engine::prepare_ready(std::int32_t t) {
  visible_task& v = seen(t);
  if ((v.flags & task::exclusive) != 0 && !take_turns(regions_, v)) return false;
  state_of(t) = state::queued;
  return true;
}

void engine::submit(worker& w, std::int32_t t) {
  // Fences that the task asked for stand right behind it in the program.
  for (std::size_t f = static_cast<std::size_t>(t) + 1; f < program_.tasks(); ++f) {
    const auto fence = static_cast<std::int32_t>(f);
    if (!told(fence).has(recorded_task::fence)) break;
    state_of(fence) = state::created;
    ++scopes_[told(fence).scope].unfinished;
    ++scopes_[told(fence).scope].created;
    if (link(fence)) {
      state_of(fence) = state::ended;
      end_in(told(fence).scope, w);
    }
  }
  visible_task& v = make_visible(w, t);
  const bool free = link(t);
  if (wishes_.created) policy_->created(v, w);
  if (!free || !prepare_ready(t)) return;
  task* one = &v;
  task* const now = policy_->ready({&one, 1}, w, moment::creation);
  if (now == nullptr) return;
  w.sums.add(event::task_inlined);
  start(w, visible(*now).number, true);
}

void engine::wait(worker& w, std::uint32_t scope) {
  frame& f = w.frames.back();
  f.now = doing::waiting;
  f.scope = scope;
  f.wait_began = w.clock;
  policy_->waiting(no_scope_, w);
  scope_state& s = scopes_[scope];
  if (s.wanted.empty()) return;
  // Nodes of a static graph are known from the start; linked backwards, they are found in their order.
  const auto nodes =
      std::ranges::equal_range(program_.of_graphs, scope, {}, &std::pair<std::uint32_t, std::int32_t>::first);
  for (auto n = nodes.end(); n != nodes.begin();) link((--n)->second);
  std::vector<task*> first;
  for (std::int32_t n : s.wanted) {
    state_of(n) = state::queued;
    first.push_back(&seen(n));
  }
  s.wanted.clear();
  task* const next = policy_->ready(first, w, moment::discovery);
  if (next != nullptr) w.next = visible(*next).number;
}

/// The first phase of a keyed node: its predecessors are found, or made.
void engine::explore(worker& w) {
  frame& f = w.frames.back();
  const std::int32_t t = f.task;
  const auto needs = program_.dependences(static_cast<std::size_t>(t));
  if (!f.charged) {
    spend(w, cost(on_.costs.explore * static_cast<double>(needs.size())));
    f.charged = true;
    return;
  }
  std::vector<task*> found;
  for (const recorded_dependence& d : needs) {
    if (state_of(d.before) != state::none) continue;
    spend(w, cost(on_.costs.create));
    found.push_back(&make_visible(w, d.before));
    state_of(d.before) = state::queued;
  }
  explored_[static_cast<std::size_t>(t)] = true;
  w.sums.add(event::node_explored);
  visible_task& v = seen(t);
  v.exploring = 0;
  if (set_.keep_schedule) {
    recorded_task& kept = schedule_.tasks[static_cast<std::size_t>(t)];
    kept.explorer = static_cast<std::int16_t>(w.id.value);
    kept.explore_started = f.began / 1000;
    kept.explore_ended = w.clock / 1000;
  }
  w.frames.pop_back();
  if (link(t)) {
    state_of(t) = state::queued;
    found.push_back(&v);
  } else {
    state_of(t) = state::created;
  }
  if (found.empty()) return;
  hand_over(w, found, found.front() == &v ? moment::completion : moment::discovery, true);
}

}  // namespace kith::sim
