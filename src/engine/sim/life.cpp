// What happens to tasks: created, started, run, ended. The native engine's create.cpp, worker.cpp and keyed.cpp are the
// pattern; the order of calls to the policy is the same.
#include "engine/sim/engine.hpp"
#include "engine/sim/node_time.hpp"
#include "task/closure_room.hpp"
#include "task/turns.hpp"

#include <algorithm>

namespace kith::sim {

void engine::step(worker& w) {
  if (w.frames.empty()) {
    if (w.id.value == 0 && root_ < program_.roots.size()) {
      begin_root(w);
    } else if (w.next >= 0) {
      start(w, std::exchange(w.next, -1));
    } else {
      look_for_work(w);
    }
    return;
  }
  frame& f = w.frames.back();
  switch (f.now) {
    case doing::running: go_on(w); return;
    case doing::exploring: explore(w); return;
    case doing::waiting:
    case doing::helping: break;
  }
  const bool over_now = f.now == doing::waiting ? scopes_[f.scope].unfinished == 0 : !over(f.scope);
  if (!over_now) {
    if (w.next >= 0) {
      start(w, std::exchange(w.next, -1));
    } else {
      look_for_work(w);
    }
    return;
  }
  if (w.next >= 0) {  // others may as well
    batch_.assign(1, &seen(std::exchange(w.next, -1)));
    hand_over(w, batch_, moment::arrival, false);
  }
  if (f.now == doing::waiting) {
    scopes_[f.scope].waiter = -1;
    if (set_.keep_schedule) {
      schedule_.waits.push_back(
          {f.task, f.scope, static_cast<std::int16_t>(w.id.value), f.wait_began / 1000, w.clock / 1000});
    }
  } else {
    scope_state& s = scopes_[f.scope];
    s.throttle_at = s.created - s.ended_here + (set_.throttle - std::min<std::uint64_t>(set_.throttle, s.unfinished));
  }
  w.frames.back().now = doing::running;
}

void engine::begin_root(worker& w) {
  const std::int32_t t = program_.roots[root_++];
  if (root_ - 1 == program_.measured_from) measure_from_here();
  policy_->begun();
  for (worker& x : workers_) x.worked = x.stole = false;
  state_of(t) = state::running;
  frame f{.task = t, .action = program_.first_action[static_cast<std::size_t>(t)], .began = w.clock};
  f.fetched = true;
  w.frames.push_back(f);
}

/// True if it is ours to run: not taken past the queue by its creator.
bool engine::take(std::int32_t t) {
  if (!told(t).has(recorded_task::listed)) return true;
  if (state_of(t) == state::queued) return true;
  if (state_of(t) == state::claimed) {
    state_of(t) = state::dropped;
  } else {
    forget(t);
  }
  return false;
}

void engine::start(worker& w, std::int32_t t, bool at_creation) {
  if (w.claimed == t) {
    w.claimed = -1;
  } else {
    if (!take(t)) return;
    state_of(t) = state::running;
  }
  const bool explores = told(t).has(recorded_task::keyed) && !explored_[static_cast<std::size_t>(t)];
  frame f{.task = t,
          .now = explores ? doing::exploring : doing::running,
          .at_creation = at_creation,
          .action = program_.first_action[static_cast<std::size_t>(t)],
          .began = w.clock};
  if (!explores) {
    count_accesses(w, f);
    const auto creator = seen(t).owner;
    if (memory_ && creator < workers_.size())
      memory_->move_metadata(workers_[creator].node, w.node, on_.metadata_bytes, w.clock);
  }
  w.frames.push_back(f);
}

/// First touch, and the count of remote accesses, as the native engine has them; from these the factor on the task's
/// time, where memory is not modelled.
void engine::count_accesses(worker& w, frame& f) {
  const std::int32_t n = f.task;
  const recorded_task& t = told(n);
  visible_task& v = seen(n);
  const auto color_is_far = [&](std::int32_t color) {
    return color < 0 || color >= team_.size() || team_.node_of(worker_id(color)) != w.node;
  };
  const bool colored = t.has(recorded_task::keyed) && t.color >= 0;
  std::uint64_t remote = 0, all = 1, largest = 0;
  node_id own = w.node;
  std::uint64_t bytes = 0, far_bytes = 0;
  for (const recorded_access& a : program_.accesses(static_cast<std::size_t>(n))) {
    bytes += a.touched;
    const node_id at = regions_[a.region + 1].home_node();
    if (at && at != w.node) far_bytes += a.touched;
  }
  for (kept_access a : v.access_list()) {
    region& r = regions_[a.region];
    if (r.place(w.node)) {
      w.sums.add(event::region_placed);
      if (wishes_.placed) policy_->placed(r, w.node);
    }
    const node_id at = r.home_node();
    if (a.bytes() > largest) {
      largest = a.bytes();
      own = at;
    }
    if (a.how == mode::out || a.bytes() == 0 || colored) continue;
    ++all;
    remote += at != w.node;
  }
  if (colored) {
    for (const recorded_dependence& d : program_.dependences(static_cast<std::size_t>(n))) {
      ++all;
      remote += color_is_far(color_of(d.before));
    }
  }
  remote += t.color >= 0 ? color_is_far(color_of(n)) : own != w.node;
  remote_ += remote;
  local_ += all - remote;
  const std::uint64_t noise = set_.noise ? noise_of(on_, set_.seed, n) : 1024;
  f.factor = noise * w.speed >> 10;
  if (set_.how == fidelity::abstract) {
    // By bytes, where they have homes; else by what is counted.
    const double far = bytes != 0 ? static_cast<double>(far_bytes) / static_cast<double>(bytes)
                                  : static_cast<double>(remote) / static_cast<double>(all);
    f.factor = stretched(on_, f.factor, far);
    // The bytes' time is part of the task's, and stretched with it: compute() adds it to the first piece.
  }
}

void engine::go_on(worker& w) {
  frame& f = w.frames.back();
  const auto t = static_cast<std::size_t>(f.task);
  if (f.action == program_.first_action[t + 1]) {
    if (!f.fetched && program_.bytes[t] != 0) {
      compute(w, f, 0);
    } else {
      end(w);
    }
    return;
  }
  const action a = program_.actions[f.action];
  switch (static_cast<action::kind>(a.what)) {
    case action::compute: compute(w, f, a.value); return;
    case action::create: create(w, static_cast<std::int32_t>(a.value)); return;
    case action::wait: {
      ++f.action;
      const std::uint32_t scope = a.value == program_.scopes ? f.created_in : static_cast<std::uint32_t>(a.value);
      if (scope < program_.scopes) wait(w, scope);
      return;
    }
  }
}

void engine::compute(worker& w, frame& f, picoseconds work) {
  const auto t = static_cast<std::size_t>(f.task);
  if (!f.fetched && program_.bytes[t] != 0) {
    if (memory_) {
      fetch_chunk(w, f, work);
      return;
    }
    work += core_rate_(program_.bytes[t]);
  }
  f.fetched = true;
  const picoseconds took = work * f.factor >> 10;
  w.clock += took;
  w.useful += took;
  if (f.action != program_.first_action[t + 1]) ++f.action;
}

/// The next chunk of the task's data, and the share of its computing that belongs to it.
void engine::fetch_chunk(worker& w, frame& f, picoseconds work) {
  const auto t = static_cast<std::size_t>(f.task);
  const auto accesses = program_.accesses(t);
  while (f.access < accesses.size() && accesses[f.access].touched == 0) ++f.access;
  const recorded_access& a = accesses[f.access];
  const std::uint64_t from = f.chunk * memory_->chunk_bytes();
  const std::uint64_t bytes = std::min(memory_->chunk_bytes(), a.touched - from);
  const auto how = static_cast<mode>(a.mode);
  const picoseconds data =
      memory_->touch(memory_->first_chunk(a.region) + f.chunk, bytes, how != mode::in, w.node, w.clock);
  if (const picoseconds near = core_rate_(bytes); data > near) w.stall += data - near;
  const std::uint64_t all = program_.bytes[t];
  const auto share = [&](std::uint64_t of) {
    return static_cast<picoseconds>(static_cast<double>(work) * static_cast<double>(of) / static_cast<double>(all));
  };
  const picoseconds code = (share(f.done_bytes + bytes) - share(f.done_bytes)) * f.factor >> 10;
  const picoseconds shorter = std::min(data, code);
  const auto hidden = static_cast<picoseconds>(static_cast<double>(shorter) * on_.overlap);
  const picoseconds took = data + code - hidden;
  w.clock += took;
  w.useful += took;
  f.done_bytes += bytes;
  ++f.chunk;
  if (from + bytes < a.touched) return;
  f.chunk = 0;
  ++f.access;
  while (f.access < accesses.size() && accesses[f.access].touched == 0) ++f.access;
  if (f.access < accesses.size()) return;
  f.fetched = true;
  if (f.action != program_.first_action[t + 1]) ++f.action;
}

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
      f.scope = told(t).scope;
      return;
    }
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
    if (kept.how == mode::commutative) v->flags |= task::exclusive;
  }
  v->number = n;
  v->code = nullptr;
  // Policies and turns tell scopes apart, and look into none.
  v->scope = reinterpret_cast<detail::scope*>(std::uintptr_t{t.scope} + 1);  // NOLINT(performance-no-int-to-ptr)
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
  by.sums.add(event::task_created);
  scope_state& s = scopes_[t.scope];
  ++s.unfinished;
  ++s.created;
  if (t.has(recorded_task::listed)) s.children.push_back(n);
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
  if (wishes_.created) {
    for (task* n : found) policy_->created(*n, w);
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

/// Gives tasks to the policy. With `keep`, what it returns is run next; else it is given back until it is queued.
void engine::hand_over(worker& w, std::vector<task*>& batch, moment why, bool keep) {
  task* next = policy_->ready(batch, w, why);
  if (keep) {
    if (next != nullptr) w.next = visible(*next).number;
    return;
  }
  while (next != nullptr) {
    task* one = next;
    next = policy_->ready({&one, 1}, w, moment::arrival);
    if (next == one) {  // it insists
      w.next = visible(*next).number;
      return;
    }
  }
}

void engine::forget(std::int32_t t) {
  visible_task*& v = visible_[static_cast<std::size_t>(t)];
  free_room(*v);
  free_.push_back(v);
  v = nullptr;
}

void engine::end_in(std::uint32_t scope, worker& by) {
  scope_state& s = scopes_[scope];
  if (s.owner == by.id.value) ++s.ended_here;
  if (--s.unfinished != 0 || s.waiter < 0) return;
  worker& waiter = workers_[static_cast<std::size_t>(s.waiter)];
  if (waiter.parked) wake(waiter, by.clock);
}

/// Counts down those that waited for `t`; those that wait for nothing more go to batch_, fences to `fences`.
void engine::release(std::int32_t t, worker& w, std::vector<std::int32_t>& fences) {
  for (std::uint32_t link = first_successor_[static_cast<std::size_t>(t)]; link != 0;) {
    const std::int32_t next = program_.dependent[link - 1];
    link = next_successor_[link - 1];
    if (--join_[static_cast<std::size_t>(next)] != 0) continue;
    if (told(next).has(recorded_task::fence)) {
      fences.push_back(next);
    } else if (state_of(next) == state::none) {  // of a static graph: made when it is ready
      spend(w, cost(on_.costs.create));
      batch_.push_back(&make_visible(w, next));
      state_of(next) = state::queued;
    } else if (prepare_ready(next)) {
      batch_.push_back(&seen(next));
    }
  }
}

void engine::end(worker& w) {
  const frame f = w.frames.back();
  const std::int32_t t = f.task;
  w.frames.pop_back();
  if (set_.keep_schedule) {
    recorded_task& kept = schedule_.tasks[static_cast<std::size_t>(t)];
    kept.worker = w.id.value;
    kept.started = f.began / 1000;
    kept.ended = w.clock / 1000;
  }
  if (told(t).has(recorded_task::root)) {
    state_of(t) = state::ended;
    done_ = root_ == program_.roots.size();
    return;
  }
  w.sums.add(event::task_executed);
  const auto i = static_cast<std::size_t>(t);
  serial_ += program_.compute[i] + core_rate_(program_.bytes[i]);
  visible_task& v = seen(t);
  std::vector<std::int32_t> fences;
  batch_.clear();
  const state before = state_of(t);
  state_of(t) = state::ended;
  release(t, w, fences);
  if ((v.flags & task::exclusive) != 0) {
    const std::size_t known = batch_.size();
    give_turns(regions_, v, batch_);
    for (std::size_t b = known; b < batch_.size(); ++b) state_of(visible(*batch_[b]).number) = state::queued;
  }
  if (wishes_.finished) policy_->finished(v, w);
  end_in(told(t).scope, w);
  if (before != state::claimed) forget(t);  // else its queue entry is still there
  while (!fences.empty()) {
    const std::int32_t fence = fences.back();
    fences.pop_back();
    state_of(fence) = state::ended;
    release(fence, w, fences);
    end_in(told(fence).scope, w);
  }
  if (!batch_.empty()) hand_over(w, batch_, moment::completion, !f.at_creation);
  // What its computation names.
  std::vector<task*> named;
  for (std::uint64_t n = program_.first_named[i]; n < program_.first_named[i + 1]; ++n) {
    const std::int32_t node = program_.named[n];
    if (state_of(node) != state::none) continue;
    spend(w, cost(on_.costs.create));
    named.push_back(&make_visible(w, node));
    state_of(node) = state::queued;
  }
  if (named.empty()) return;
  const bool explores = told(visible(*named.front()).number).has(recorded_task::keyed);
  const bool keep = w.next < 0 && !f.at_creation;
  hand_over(w, named, !keep ? moment::arrival : explores ? moment::discovery : moment::completion, keep);
}

}  // namespace kith::sim
