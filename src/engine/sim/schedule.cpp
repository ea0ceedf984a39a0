// The simulated run as a recording: replaces the recorded run's times, places and homes. Does nothing unless
// the schedule is kept.
#include "engine/sim/engine.hpp"
#include "policy/contract/policy_options.hpp"
#include "recording/completed_times.hpp"
#include "recording/ready_times.hpp"

#include <algorithm>
#include <tuple>

namespace kith::sim {

namespace {

constexpr std::uint64_t not_created = ~std::uint64_t{0};

}  // namespace

/// Clears what the recorded run decided, so that it is not taken for results of this one.
void engine::forget_recorded_run() {
  schedule_.homes.clear();
  schedule_.messages.clear();
  last_home_.assign(schedule_.regions.size(), 0);
  for (recorded_task& t : schedule_.tasks) {
    t.created = not_created;
    t.create_until = t.create_ns = t.ready = t.started = t.ended = t.completed = t.explore_started = t.explore_ended =
        0;
    t.worker = -1;
    t.explorer = -1;
  }
}

/// The creation of `t` begins.
void engine::note_creation_began(const worker& w, std::int32_t t) {
  if (options_.keep_schedule) schedule_.tasks[static_cast<std::size_t>(t)].created = w.clock / 1000;
}

/// The creation of `t` has ended. Nodes that are found have no separate beginning.
void engine::note_created(const worker& w, std::int32_t t) {
  if (!options_.keep_schedule) return;
  recorded_task& kept = schedule_.tasks[static_cast<std::size_t>(t)];
  kept.create_until = w.clock / 1000;
  kept.created = std::min(kept.created, kept.create_until);
  kept.create_ns = kept.create_until - kept.created;
}

/// The task and its children have ended.
void engine::note_completed(const worker& w, std::int32_t t) {
  if (options_.keep_schedule) schedule_.tasks[static_cast<std::size_t>(t)].completed = w.clock / 1000;
}

/// Notes where data is before any task has touched it.
void engine::note_first_homes() {
  if (!options_.keep_schedule) return;
  for (std::uint32_t r = 0; r < schedule_.regions.size(); ++r) note_home(r, 0);
}

/// Notes where the task has left its data.
void engine::note_homes(std::int32_t t, picoseconds began) {
  for (const recorded_access& a : accesses(record_of(t))) note_home(a.region, began);
}

/// Notes the region's present home, valid from `since`, if it has changed.
void engine::note_home(std::uint32_t region, picoseconds since) {
  std::vector<std::uint64_t> bytes(machine_.hardware.nodes.size());
  const std::uint64_t all = program_.recorded.regions[region].bytes;
  if (memory_) {
    const std::uint64_t each = memory_->chunk_bytes();
    for (std::uint32_t c = 0; c < memory_->chunks(all); ++c) {
      const node_id home = memory_->home(memory_->first_chunk(region) + c);
      if (home) bytes[home.index()] += std::min(each, all - c * each);
    }
  } else if (const node_id home = regions_[region + 1].home_node()) {
    bytes[home.index()] = all;
  }
  std::vector<recorded_home>& homes = schedule_.homes;
  std::uint32_t& last = last_home_[region];
  std::vector<std::uint64_t> known(bytes.size());
  for (std::size_t h = last; h != 0 && h <= homes.size(); ++h) {
    const recorded_home& x = homes[h - 1];
    if (x.region != region || x.at != homes[last - 1].at) break;
    known[static_cast<std::size_t>(x.node)] = x.bytes;
  }
  if (known == bytes) return;
  const std::uint64_t time = std::max(since / 1000, last == 0 ? 0 : homes[last - 1].at + 1);  // a new group of rows
  last = static_cast<std::uint32_t>(homes.size() + 1);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    if (bytes[n] != 0) homes.push_back({region, static_cast<std::int16_t>(n), bytes[n], time});
  }
}

/// What the simulated places send: a result is in the message that its task has ended.
void engine::note_message(const place_message& m, picoseconds now) {
  recorded_message kept{.source = static_cast<std::uint16_t>(m.from),
                        .destination = static_cast<std::uint16_t>(m.to),
                        .bytes = message_header_bytes + m.bytes,
                        .sent = m.sent / 1000,
                        .received = now / 1000};
  switch (m.what) {
    case place_message::kind::offer:
      kept.spawner = program_.recorded.task(m.task).creator;
      if (record_of(m.task).arrived) kept.task = m.task;  // it was accepted
      break;
    case place_message::kind::accepted: kept.kind = recorded_message::accepted; break;
    case place_message::kind::refused: kept.kind = recorded_message::refused; break;
    case place_message::kind::done:
      kept.kind = m.bytes == 0 ? recorded_message::done : recorded_message::result;
      if (m.bytes == 0) break;
      kept.spawner = program_.results[m.scope].task;
      kept.task = scopes_[m.scope].task;
      break;
    case place_message::kind::enable: return;  // recordings have none
  }
  schedule_.messages.push_back(kept);
}

/// The places of this run: as many groups of workers, on one clock.
void engine::finish_places() {
  recording& s = schedule_;
  if (s.places.empty()) return;
  if (!network_ || places_.size() != s.places.size()) {
    s.places.clear();
    s.messages.clear();
    return;
  }
  for (std::size_t p = 0; p < s.places.size(); ++p) {
    const policy_group& g = groups_[p];
    s.places[p] = {.first_worker = g.first,
                   .workers = static_cast<std::uint32_t>(g.workers.size()),
                   .first_node = 0,
                   .nodes = static_cast<std::int16_t>(machine_.hardware.nodes.size()),
                   .host = machine_.hardware.name};
  }
  std::ranges::sort(s.messages, {}, [](const recorded_message& m) {
    return std::tuple(m.sent, m.source, m.destination, m.received, m.kind, m.task);
  });
}

void engine::finish_schedule() {
  recording& s = schedule_;
  const auto nodes = static_cast<std::int32_t>(machine_.hardware.nodes.size());
  s.meta["engine"] = "sim";
  s.meta["policy"] = options_.policy;
  s.meta["migrate"] = take_migration(s.meta["policy"]) ? "1" : "0";
  s.meta["seed"] = std::to_string(options_.seed);
  s.meta["machine"] = machine_.hardware.name;
  s.meta["distances"] = distances_text(machine_.hardware);
  s.meta["nodes"] = std::to_string(nodes);
  s.meta["workers"] = std::to_string(workers_.size());
  for (std::size_t i = 0; i < s.regions.size(); ++i) {
    const node_id home = regions_[static_cast<std::uint32_t>(i) + 1].home_node();
    s.regions[i].home = home ? static_cast<std::int16_t>(home.value) : std::int16_t{-1};  // none if on several nodes
  }
  // Comes before the workers change, because the program's colors and nodes refer to the recorded machine.
  std::uint64_t asked_for = 0;  // when the task before a fence was created
  for (std::size_t i = 0; i < s.tasks.size(); ++i) {
    recorded_task& t = s.tasks[i];
    t.color = records_[i].color;
    t.node = records_[i].node;
    if (t.created == not_created) t.created = t.create_until = t.has(recorded_task::fence) ? asked_for : t.started;
    asked_for = t.created;
  }
  s.worker_node.clear();
  s.meta["worker_nodes"].clear();
  for (const worker& w : workers_) {
    s.worker_node.push_back(static_cast<std::int16_t>(w.node.value));
    s.meta["worker_nodes"] += (w.number == 0 ? "" : " ") + std::to_string(w.node.value);
  }
  finish_places();
  // Moves each mark to the start of the run that followed it.
  for (recorded_mark& m : s.marks) {
    const auto next = std::ranges::find_if(program_.roots, [&](std::int32_t r) {
      return program_.recorded.tasks[static_cast<std::size_t>(r)].started >= m.at;
    });
    m.at =
        next == program_.roots.end() ? workers_.front().clock / 1000 : s.tasks[static_cast<std::size_t>(*next)].started;
  }
  if (const std::int32_t added = program_.members.back().outside_root; added >= 0 && program_.members.size() == 1) {
    s.tasks.pop_back();
    s.first_access.pop_back();
    s.first_dependence.pop_back();
    std::erase_if(s.waits, [&](const recorded_wait& x) { return x.task == added; });
    for (recorded_task& t : s.tasks) {
      if (t.has(recorded_task::outside)) t.creator = -1;
    }
  }
  set_completed_times(s);
  set_ready_times(s);
  std::ranges::sort(s.homes, {}, [](const recorded_home& h) { return std::tuple(h.region, h.at, h.node); });
}

}  // namespace kith::sim
