// What belongs to which place, and what the messages between places have in common: how they are handled, and what
// they make ready. place_offers.cpp, place_flows.cpp, place_requests.cpp and place_enables.cpp have each kind.
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

/// The place's progress thread, for a step that it takes at `now`, or as soon as it is free.
worker& engine::make_progress(std::uint32_t place, picoseconds now) {
  worker& p = places_[place].progress;
  p.clock = std::max(p.clock, now) + message_cost_;
  return p;
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

}  // namespace kith::sim
