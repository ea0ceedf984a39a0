#include "engine/sim/places.hpp"

#include "engine/sim/engine.hpp"

#include <kith/error.hpp>

#include <algorithm>

namespace kith::sim {

void engine::make_places() {
  if (program_.place.empty())
    throw error("the program has no places: its tasks do not say where they belong", error_kind::setting);
  if (options_.hardware.used || lines_ || policy().has_gate())
    throw error("places are simulated without a scheduling unit, in fidelity abstract or block, and not under replay",
                error_kind::setting);
  std::vector<node_id> nodes;
  for (policy_group& g : groups_) {
    places_.emplace_back(*this, g);
    nodes.push_back(machine_.hosts ? node_id(static_cast<int>(nodes.size())) : g.workers.node_of(worker_id(0)));
  }
  if (std::ranges::max(program_.place) >= places_.size())
    throw error("the program has " + std::to_string(std::ranges::max(program_.place) + 1) + " places; " +
                    std::to_string(places_.size()) + " were asked for",
                error_kind::setting);
  network_.emplace(machine_, options_.parts, std::move(nodes));
  for (const program::request& q : program_.requests) {
    if (q.awaited_by >= 0) ++replies_left_[q.awaited_by];
  }
  message_cost_ = costs_.push;
}

void engine::place_results(result& r) const {
  r.places = network_->counts;
  for (std::size_t p = 0; p < places_.size(); ++p) {
    if (r.places[p].accepted != 0)
      r.places[p].fab_mean = static_cast<double>(places_[p].fab_sum) / static_cast<double>(r.places[p].accepted);
  }
}

std::uint32_t engine::place_of(std::int32_t t) const noexcept {
  return network_ ? program_.place[static_cast<std::size_t>(t)] : 0;
}

const team& engine::owners_of_colors(std::int32_t t) const noexcept {
  return groups_.size() > 1 && !program_.recorded.places.empty()
             ? groups_[program_.place[static_cast<std::size_t>(t)]].workers
             : team_;
}

std::int32_t engine::color_at_place(std::size_t task) const noexcept {
  const recording& r = program_.recorded;
  if (r.tasks[task].color < 0) return -1;
  const recorded_place& recorded = r.places[program_.place[task]];
  const std::int64_t there = std::int64_t{r.tasks[task].color} - recorded.first_worker, then = recorded.workers;
  const std::int64_t here = groups_[program_.place[task]].workers.size();
  return static_cast<std::int32_t>(there >= 0 && there < then ? there * here / then : here);
}

std::int16_t engine::node_at_place(std::size_t number) const {
  const recording& r = program_.recorded;
  const std::int16_t recorded = r.tasks[number].node;
  if (recorded < 0) return -1;
  const recorded_place& place = r.places[program_.place[number]];
  std::vector<std::int16_t> then(r.worker_node.begin() + place.first_worker,
                                 r.worker_node.begin() + place.first_worker + place.workers);
  std::ranges::sort(then);
  then.erase(std::ranges::unique(then).begin(), then.end());
  const auto rank = static_cast<std::size_t>(std::ranges::lower_bound(then, recorded) - then.begin());
  const std::vector<node_id>& here = groups_[program_.place[number]].workers.inhabited();
  const node_id node = here[std::min(rank, then.size() - 1) * here.size() / then.size()];
  if (node.value >= task::no_node)
    throw error("task " + std::to_string(number) + " has a node, and its place would have node " +
                    std::to_string(node.value) + " of " + machine_.hardware.name + "; tasks can have nodes up to " +
                    std::to_string(task::no_node - 1) + ": expected fewer hosts",
                error_kind::setting);
  return static_cast<std::int16_t>(node.value);
}

std::uint64_t engine::argument_bytes(std::int32_t t) const noexcept {
  return program_.message_bytes[static_cast<std::size_t>(t)];
}

/// The place whose task waits for the scope.
std::uint32_t engine::home_of(std::uint32_t scope) const noexcept {
  const std::int32_t owner = scopes_[scope].task;
  return owner < 0 ? 0 : place_of(owner);
}

/// Makes a task for another place, and offers it. The worker continues when it is accepted.
void engine::offer(worker& w, std::int32_t t) {
  make_policy_task(w, t);
  place_state& here = places_[w.group.place];
  link(t);
  ++record_of(t).waits_for;  // for its acceptance
  if (options_.places.works) {
    frame& f = w.frames.back();
    f.state = frame_state::offering;
    f.offered = t;
    f.asked = -1;
    f.adopted_from = w.adopted.size();
  } else {
    w.awaits_acceptance = true;
  }
  spend(w, costs_.push);
  here.progress.clock = std::max(here.progress.clock, w.clock) + message_cost_;
  network_->send({.from = w.group.place, .to = place_of(t), .task = t, .worker = w.number}, argument_bytes(t),
                 here.progress.clock);
}

void engine::deliver_message() {
  const picoseconds now = network_->first();
  place_state& here = places_[network_->first_place()];
  if (here.progress.clock > now) {
    network_->postpone(here.progress.clock);
    return;
  }
  const place_message m = network_->take();
  here.progress.clock = now + message_cost_;
  ++events_taken_;
  switch (m.what) {
    case place_message::kind::offer: receive_offer(m); break;
    case place_message::kind::accepted:
    case place_message::kind::refused: receive_answer(m); break;
    case place_message::kind::done:
      scopes_[m.scope].unfinished -= m.count - 1;
      end_in_scope(m.scope, here.progress);
      end_left(here.progress, false);
      break;
    case place_message::kind::enable: receive_enable(m); break;
    case place_message::kind::result: receive_result(m); break;
    case place_message::kind::request: {
      const program::request& q = program_.requests[static_cast<std::size_t>(m.task)];
      network_->send({.what = place_message::kind::reply, .from = m.to, .to = m.from, .task = m.task}, q.reply_bytes,
                     here.progress.clock);
      break;
    }
    case place_message::kind::reply: receive_reply(m); break;
  }
  if (notes_) note_message(m, now);
}

/// Called when an offer has arrived: the place takes the task while there is room in its buffer.
void engine::receive_offer(const place_message& m) {
  place_state& here = places_[m.to];
  place_figures& counts = network_->counts[m.to];
  place_message back{
      .what = place_message::kind::accepted, .from = m.to, .to = m.from, .task = m.task, .worker = m.worker};
  const bool full = here.fab >= options_.places.fab_threshold;
  if (full && m.refusals < options_.places.most_refusals) {
    ++counts.refused;
    back.what = place_message::kind::refused;
    back.refusals = m.refusals + 1;
    network_->send(back, 0, here.progress.clock);
    return;
  }
  if (full) ++counts.forced;
  ++counts.accepted;
  here.fab_sum += ++here.fab;
  counts.fab_peak = std::max(counts.fab_peak, here.fab);
  record_of(m.task).arrived = true;
  network_->send(back, 0, here.progress.clock);
  count_down(m.task, here.progress);
}

/// Counts down what a task waits for, at its place. At zero the task becomes ready.
void engine::count_down(std::int32_t t, worker& progress) {
  if (--record_of(t).waits_for != 0 || !prepare_ready(t)) return;
  batch_.assign(1, &policy_task_of(t));
  make_ready(progress, batch_, ready_reason::arrival, false);
  if (progress.unqueued.empty()) return;  // else the policy has left the task to the caller
  worker& first = workers_[progress.group.first];
  first.unqueued.push_back(progress.unqueued.back());
  progress.unqueued.clear();
  if (first.parked) wake(first, progress.clock);
}

void engine::receive_answer(const place_message& m) {
  const picoseconds now = places_[m.to].progress.clock;
  if (m.what == place_message::kind::refused) {
    const std::uint32_t times = std::min(m.refusals - 1, std::uint32_t{20});
    const picoseconds pause = std::min(options_.places.retry << times, options_.places.retry_most);
    network_->send({.from = m.to, .to = m.from, .task = m.task, .worker = m.worker, .refusals = m.refusals},
                   argument_bytes(m.task), now + pause);
    return;
  }
  record_of(m.task).accepted = true;
  if (record_of(m.task).flow) return;  // no worker waits for the acceptance
  worker& w = workers_[m.worker];
  if (w.parked) wake(w, now);
  if (!w.awaits_acceptance) return;
  w.awaits_acceptance = false;
  w.overhead += now - w.clock;
  w.clock = now;
  events_.set(w.number, now);
}

/// Called when a task of a scope that another place waits for has ended here.
void engine::end_in_remote_scope(std::uint32_t scope, worker& w) {
  place_state& here = places_[w.group.place];
  const auto record = here.open.find(scope);
  auto& [unfinished, ended] = record->second;
  ++ended;
  if (--unfinished != 0) return;
  here.progress.clock = std::max(here.progress.clock, w.clock) + message_cost_;
  network_->send(
      {.what = place_message::kind::done, .from = w.group.place, .to = home_of(scope), .scope = scope, .count = ended},
      0, here.progress.clock);
  here.open.erase(record);
}

// ---- what a place makes for itself, and results

bool engine::has_result(std::int32_t t) const noexcept {
  return !program_.result_bytes.empty() && program_.result_bytes[static_cast<std::size_t>(t)] >= 0;
}

bool engine::answers(std::int32_t t) const noexcept {
  return has_result(t) && place_of(t) != home_of(records_[static_cast<std::size_t>(t)].scope);
}

/// The place's progress thread, for a step that it takes at `now`, or as soon as it is free.
worker& engine::make_progress(std::uint32_t place, picoseconds now) {
  worker& p = places_[place].progress;
  p.clock = std::max(p.clock, now) + message_cost_;
  return p;
}

/// Makes the next part of a coroutine that has just been suspended.
void engine::continue_later(worker& w, std::int32_t t) {
  make_policy_task(w, t).owner = 0xffff;
  link(t);
  task_record& r = record_of(t);
  const auto replies = replies_left_.find(t);
  r.waits_for += 1 + (replies == replies_left_.end() ? 0 : replies->second);
  count_down_wait(t, w.group.place, w.clock);
}

void engine::add_to_flow(worker& w, std::int32_t t) {
  make_policy_task(w, t).owner = 0xffff;
  if (link(t)) admit(t, make_progress(w.group.place, w.clock));
}

/// Called when something that the task waited for has ended, here or at another place that has told this one.
void engine::count_down_wait(std::int32_t t, std::uint32_t place, picoseconds now) {
  task_record& r = record_of(t);
  if (--r.waits_for != 0) return;
  worker& p = make_progress(place, now);
  if (r.flow) {
    admit(t, p);
    return;
  }
  if (notes_) notes_->made(t, p.clock);
  r.waits_for = 1;
  count_down(t, p);
}

/// Starts a task of a data_flow that may run: at its own place at once, at another when there is room.
void engine::admit(std::int32_t t, worker& progress) {
  task_record& r = record_of(t);
  r.waits_for = 1;
  if (place_of(t) == progress.group.place) {
    count_down(t, progress);
    return;
  }
  flow_window& there = flow_windows_[{r.scope, place_of(t)}];
  if (there.under_way >= options_.places.fab_threshold) {
    there.ready.push_back(t);
    return;
  }
  ++there.under_way;
  offer_of_flow(t, progress);
}

void engine::offer_of_flow(std::int32_t t, worker& progress) {
  network_->send({.from = progress.group.place, .to = place_of(t), .task = t}, argument_bytes(t), progress.clock);
}

void engine::send_result(std::int32_t t, worker& w) {
  const worker& p = make_progress(w.group.place, w.clock);
  network_->send({.what = place_message::kind::result,
                  .from = w.group.place,
                  .to = home_of(record_of(t).scope),
                  .task = t,
                  .scope = record_of(t).scope},
                 static_cast<std::uint64_t>(program_.result_bytes[static_cast<std::size_t>(t)]), p.clock);
}

void engine::receive_result(const place_message& m) {
  worker& p = places_[m.to].progress;
  task_record& r = record_of(m.task);
  r.heard = true;
  for (std::uint32_t link = r.first_successor; link != 0; link = successors_[link - 1].next) {
    if (waits_for_answers(record_of(successors_[link - 1].task)))
      count_down_wait(successors_[link - 1].task, m.to, p.clock);
  }
  if (r.flow) {
    flow_window& there = flow_windows_[{r.scope, m.from}];
    if (there.ready.empty()) {
      --there.under_way;
    } else {
      offer_of_flow(there.ready.front(), p);
      there.ready.pop_front();
    }
  }
  end_in_scope(m.scope, p);
  end_left(p, false);
}

// ---- requests, which progress threads serve

void engine::ask(worker& w, std::size_t request) {
  if (requests_.empty()) requests_.resize(program_.requests.size());
  if (!network_) {
    requests_[request].reply_arrived = true;
    return;
  }
  requests_[request].worker = w.number;
  spend(w, costs_.push);
  const worker& p = make_progress(w.group.place, w.clock);
  const program::request& q = program_.requests[request];
  network_->send({.what = place_message::kind::request,
                  .from = w.group.place,
                  .to = q.to,
                  .task = static_cast<std::int32_t>(request)},
                 q.bytes, p.clock);
}

/// Suspends the task until the reply arrives; its worker runs other tasks meanwhile.
void engine::await_reply(worker& w, std::size_t request) {
  if (requests_[request].reply_arrived) return;
  requests_[request].worker = w.number;
  frame& f = w.frames.back();
  f.state = frame_state::offering;
  f.asked = static_cast<std::int32_t>(request);
  f.adopted_from = w.adopted.size();
}

void engine::receive_reply(const place_message& m) {
  const auto number = static_cast<std::size_t>(m.task);
  requests_[number].reply_arrived = true;
  worker& w = workers_[requests_[number].worker];
  if (w.parked) wake(w, places_[m.to].progress.clock);
  const std::int32_t part = program_.requests[number].awaited_by;
  if (part < 0) return;
  --replies_left_[part];
  if (record_of(part).state != task_state::none) count_down_wait(part, m.to, places_[m.to].progress.clock);
}

/// Tells another place that the predecessor of these dependences has ended.
void engine::send_enable(worker& w, std::uint32_t to, std::vector<std::uint32_t> dependences) {
  place_state& here = places_[w.group.place];
  here.progress.clock = std::max(here.progress.clock, w.clock) + message_cost_;
  std::uint64_t bytes = 0;
  for (std::uint32_t d : dependences) bytes += program_.recorded.dependences[d].bytes;
  network_->send(
      {.what = place_message::kind::enable, .from = w.group.place, .to = to, .dependences = std::move(dependences)},
      bytes, here.progress.clock);
}

/// Sends the dependences in to_enable_, in one message to each place that has tasks with them.
void engine::send_enables(worker& w) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_place;
  for (const std::uint32_t d : to_enable_) by_place[place_of(successors_[d].task)].push_back(d);
  for (auto& [place, of_place] : by_place) send_enable(w, place, std::move(of_place));
  to_enable_.clear();
}

/// Whether the successor is counted down elsewhere when a task that ran on `w` has ended, or here by its answer.
bool engine::is_released_elsewhere(std::int32_t ended, std::int32_t next, std::uint32_t dependence, const worker& w) {
  if (waits_for_answers(record_of(next))) {
    if (!answers(ended)) answered_.push_back(next);
    return true;
  }
  if (!is_elsewhere(next, w)) return false;
  to_enable_.push_back(dependence);
  return true;
}

/// link() of a program with places: a predecessor that has ended counts until this place knows it.
bool engine::link_among_places(std::int32_t t) {
  task_record& after = record_of(t);
  std::uint32_t left = 0;
  std::vector<std::uint32_t> late;  // dependences whose predecessors' places have not told this one yet
  for (std::uint32_t d = after.first_dependence; d < after.end_dependence; ++d) {
    const std::int32_t b = program_.predecessors[d];
    task_record& before = record_of(b);
    if (before.state == task_state::ended) {
      if (waits_for_answers(after)) {
        if (before.heard || !answers(b)) continue;
      } else {
        if (place_of(b) == place_of(t)) continue;
        late.push_back(d);
      }
    }
    ++left;
    add_edge(before, d, t);
  }
  after.waits_for = left;
  send_late_enables(t, late);
  return left == 0;
}

/// Sends what a task created here has missed: predecessors at other places that had ended before.
void engine::send_late_enables(std::int32_t t, std::span<const std::uint32_t> dependences) {
  for (std::uint32_t d : dependences) {
    worker& there = places_[place_of(program_.predecessors[d])].progress;
    there.clock = std::max(there.clock, now_);
    send_enable(there, place_of(t), {d});
  }
}

void engine::receive_enable(const place_message& m) {
  for (std::uint32_t d : m.dependences) count_down(successors_[d].task, places_[m.to].progress);
}

}  // namespace kith::sim
