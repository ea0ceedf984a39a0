#include "engine/sim/recorded_places.hpp"

#include "engine/sim/places.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace kith::sim {

namespace {

[[noreturn]] void refuse_places(const std::string& what) {
  throw error("the recording has places, and cannot be replayed: " + what +
                  "; `kith why` and `kith placement` without --policy show what happened",
              error_kind::input);
}

std::string name_of(const recording& r, std::int32_t t) {
  return "task " + std::to_string(t) + " (" + printable(r.types[r.task(t).type]) + ")";
}

void refuse_unknown(const recording& r) {
  for (std::size_t p = 0; p < r.places.size(); ++p) {
    if (r.places[p].workers == 0) refuse_places("nothing is known of place " + std::to_string(p) + ", which was lost");
  }
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const auto t = static_cast<std::int32_t>(i);
    if (r.tasks[i].ended == 0 && !r.tasks[i].has(recorded_task::fence))
      refuse_places(name_of(r, t) + " did not end: a place was lost, or the program was stopped");
    if (r.tasks[i].has(recorded_task::outside))
      refuse_places(
          name_of(r, t) +
          " was made by its place, for an activity that is a coroutine or for a kith::data_flow, and what it waits for "
          "is not recorded; record a form of the program whose activities are functions that wait (kith::finish)");
    if (r.tasks[i].node >= 0) refuse_places(name_of(r, t) + " has a node, which is not simulated with places");
  }
}

/// A task that another place has spawned ends before its spawner does, here. That is so for activities; if other tasks
/// wait for the spawner, they would begin too late.
void refuse_awaited_spawners(const recording& r, const std::set<std::int32_t>& spawners) {
  for (const recorded_dependence& d : r.dependences) {
    if (spawners.contains(d.before))
      refuse_places(name_of(r, d.before) + " spawns at another place, and tasks of its own place wait for it");
  }
}

}  // namespace

void prepare_places(recording& r) {
  if (const auto alone = r.meta.find("place"); alone != r.meta.end())
    throw error("the recording is of place " + printable(alone->second, 20) +
                    " alone, and cannot be replayed: record the program without --addresses, and all its places",
                error_kind::input);
  if (r.places.empty()) return;
  refuse_unknown(r);
  std::map<std::int32_t, std::vector<std::int32_t>> spawned;  // by spawner
  std::set<std::int32_t> spawners;
  for (const recorded_message& m : r.messages) {
    if (m.kind != recorded_message::spawn || m.task < 0) continue;
    spawned[m.spawner].push_back(m.task);
    spawners.insert(m.spawner);
  }
  refuse_awaited_spawners(r, spawners);
  // A spawner that did not wait went on at once: its activity was accepted at once, or there were credits.
  std::map<std::int32_t, std::uint64_t> waited;  // by spawned task: until when
  std::erase_if(r.waits, [&](const recorded_wait& w) {
    const auto spawner = spawned.find(w.task);
    if (spawner == spawned.end()) return false;
    for (const std::int32_t s : spawner->second) {
      if (w.begun >= r.task(s).create_until || w.ended <= r.task(s).created) continue;
      waited[s] = std::max(waited[s], w.ended);
      return true;
    }
    return false;
  });
  for (const auto& [spawner, all] : spawned) {
    for (const std::int32_t s : all) {
      recorded_task& t = r.tasks[static_cast<std::size_t>(s)];
      t.create_until = std::max(t.created, waited[s]);
    }
  }
  std::map<std::int32_t, std::set<std::uint32_t>> of_roots;  // scopes
  for (const recorded_task& t : r.tasks) {
    if (t.creator >= 0 && r.task(t.creator).has(recorded_task::root)) of_roots[t.creator].insert(t.scope);
  }
  for (const auto& [root, scopes] : of_roots) {
    const std::uint64_t end = r.task(root).ended;
    for (const std::uint32_t s : scopes) r.waits.push_back({root, s, 0, end, end});
  }
}

void add_places(program& p) {
  const recording& r = p.recorded;
  if (r.places.empty()) return;
  p.place.resize(p.tasks());
  p.message_bytes.resize(p.tasks());
  p.results.resize(p.scopes);
  for (std::size_t i = 0; i < p.tasks(); ++i) {
    const recorded_task& t = r.tasks[i];
    const std::int32_t ran = r.place_of(t.worker);  // none if it was cancelled, and fences: as their creators
    if (ran >= 0) {
      p.place[i] = static_cast<std::uint16_t>(ran);
    } else if (t.creator >= 0) {
      p.place[i] = p.place[static_cast<std::size_t>(t.creator)];
    }
  }
  for (const recorded_message& m : r.messages) {
    const std::uint64_t bytes = m.bytes - std::min(m.bytes, message_header_bytes);
    if (m.kind == recorded_message::spawn && m.task >= 0) {
      const auto t = static_cast<std::size_t>(m.task);
      p.place[t] = m.destination;
      p.message_bytes[t] = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, ~std::uint32_t{0}));
    } else if (m.kind == recorded_message::result && m.spawner >= 0) {
      p.results[r.task(m.spawner).scope] = {m.spawner, bytes};
    }
  }
}

void use_recorded_places(run_options& s, const program& p, int workers) {
  if (p.recorded.places.empty()) return;
  s.places.count = static_cast<int>(p.recorded.places.size());
  s.places.workers = workers;
  s.places.works = true;
}

}  // namespace kith::sim
