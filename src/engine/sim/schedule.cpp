// The simulated run as a recording: what the engine knows of homes and messages goes into its notes (run_notes.hpp),
// and at the end these are completed by its workers, its places and its machine. Only if the schedule is kept.
#include "engine/sim/engine.hpp"
#include "policy/contract/policy_options.hpp"
#include "recording/completed_times.hpp"
#include "recording/ready_times.hpp"

#include <algorithm>
#include <tuple>

namespace kith::sim {

/// Notes where data is before any task has touched it.
void engine::note_first_homes() {
  if (!notes_) return;
  for (std::uint32_t r = 0; r < notes_->regions(); ++r) note_home(r, 0);
}

/// Notes where the task has left its data.
void engine::note_homes(std::int32_t t, picoseconds began) {
  for (const program::access& a : accesses(record_of(t))) note_home(a.kept.region - 1, began);
}

/// Notes the region's present home, valid from `since`.
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
  notes_->home(region, bytes, since);
}

/// Notes a message that simulated places send.
void engine::note_message(const place_message& m, picoseconds now) {
  recorded_message kept{.source = static_cast<std::uint16_t>(m.from),
                        .destination = static_cast<std::uint16_t>(m.to),
                        .bytes = recorded_message::header_bytes + m.bytes,
                        .sent = m.sent / 1000,
                        .received = now / 1000};
  switch (m.what) {
    case place_message::kind::offer:
      kept.spawner = program_.recorded.task(m.task).creator;
      if (record_of(m.task).arrived) kept.task = m.task;  // it was accepted
      break;
    case place_message::kind::accepted: kept.kind = recorded_message::accepted; break;
    case place_message::kind::refused: kept.kind = recorded_message::refused; break;
    case place_message::kind::done: kept.kind = recorded_message::done; break;
    case place_message::kind::result:
      kept.kind = recorded_message::result;
      kept.spawner = m.task;
      kept.task = program_.recorded.task(m.task).creator;
      break;
    case place_message::kind::request: kept.spawner = program_.requests[static_cast<std::size_t>(m.task)].sender; break;
    case place_message::kind::reply:
      kept.kind = recorded_message::result;
      kept.task = program_.requests[static_cast<std::size_t>(m.task)].sender;
      break;
    case place_message::kind::enable: return;  // recordings have none
  }
  notes_->message(kept);
}

/// Describes the places of this run: as many groups of workers, on one clock.
void engine::finish_places(recording& s) const {
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

recording engine::finish_schedule() {
  recording s = notes_->take();
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
  for (std::size_t i = 0; i < s.tasks.size(); ++i) {
    s.tasks[i].color = records_[i].color;
    s.tasks[i].node = records_[i].node;
  }
  s.worker_node.clear();
  s.meta["worker_nodes"].clear();
  for (const worker& w : workers_) {
    s.worker_node.push_back(static_cast<std::int16_t>(w.node.value));
    s.meta["worker_nodes"] += (w.number == 0 ? "" : " ") + std::to_string(w.node.value);
  }
  finish_places(s);
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
      if (t.creator == added) t.creator = -1;
    }
  }
  set_completed_times(s);
  set_ready_times(s);
  return s;
}

}  // namespace kith::sim
