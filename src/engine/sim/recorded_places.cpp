#include "engine/sim/recorded_places.hpp"

#include "engine/sim/places.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <ranges>
#include <set>
#include <string>
#include <unordered_map>
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
  for (const recorded_message& m : r.messages) {
    if ((m.kind == recorded_message::spawn || m.kind == recorded_message::result) && m.received == 0)
      refuse_places("a message of place " + std::to_string(m.source) + " did not arrive at place " +
                    std::to_string(m.destination) + ": a place was lost, or the program was stopped");
  }
  for (std::size_t p = 0; p < r.places.size(); ++p) {
    if (r.places[p].workers == 0) refuse_places("nothing is known of place " + std::to_string(p) + ", which was lost");
  }
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const auto t = static_cast<std::int32_t>(i);
    if (r.tasks[i].ended == 0 && !r.tasks[i].has(recorded_task::fence))
      refuse_places(name_of(r, t) + " did not end: a place was lost, or the program was stopped");
    if (r.tasks[i].has(recorded_task::outside) && r.tasks[i].creator < 0)
      refuse_places(
          name_of(r, t) +
          " was made by its place, for a coroutine or a kith::data_flow, and what it waited for was not recorded, "
          "as by an earlier Kith; record the program again");
  }
}

/// Throws if tasks wait for a task that has spawned at another place. In the simulation, such a task ends only after
/// what it has spawned. That is right for activities; tasks that wait for it would begin too late.
void refuse_awaited_spawners(const recording& r, const std::set<std::int32_t>& spawners) {
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    if (r.tasks[t].has(recorded_task::outside)) continue;
    for (std::uint64_t d = r.first_dependence[t]; d < r.first_dependence[t + 1]; ++d) {
      if (spawners.contains(r.dependences[d].before))
        refuse_places(name_of(r, r.dependences[d].before) +
                      " spawns at another place, and tasks of its own place wait for it");
    }
  }
}

/// By task: the part of its coroutine that follows it; -1: none.
std::vector<std::int32_t> next_parts(const recording& r) {
  std::vector<std::int32_t> next(r.tasks.size(), -1);
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    if (r.tasks[i].continues()) next[static_cast<std::size_t>(r.tasks[i].creator)] = static_cast<std::int32_t>(i);
  }
  return next;
}

/// The offers that were refused, as rows. A place answers at once, so each refusal is of the last offer before it.
std::set<std::size_t> refused_offers(const recording& r) {
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::vector<std::size_t>> offers;  // by source and destination
  for (std::size_t m = 0; m < r.messages.size(); ++m) {
    const recorded_message& x = r.messages[m];
    if (x.kind == recorded_message::spawn && x.received != 0) offers[{x.source, x.destination}].push_back(m);
  }
  const auto received = [&r](std::size_t m) { return r.messages[m].received; };
  for (auto& [way, all] : offers) std::ranges::sort(all, {}, [&](std::size_t m) { return std::pair(received(m), m); });
  std::set<std::size_t> refused;
  for (const recorded_message& x : r.messages) {
    if (x.kind != recorded_message::refused) continue;
    const std::vector<std::size_t>& all = offers[{x.destination, x.source}];
    auto at = std::ranges::upper_bound(all, x.sent, {}, received);
    while (at != all.begin() && (r.messages[*(at - 1)].task >= 0 || refused.contains(*(at - 1)))) --at;
    if (at != all.begin()) refused.insert(*(at - 1));
  }
  return refused;
}

/// Finds what progress threads have served (activities with results and without tasks), and what has waited for it: the
/// part of a coroutine that was made when the reply arrived; else the task that ran then, in a wait for a future or at
/// once.
class request_finder {
 public:
  explicit request_finder(recording& r) : r_(r), next_(next_parts(r)) {
    for (const recorded_wait& w : r.waits) {
      if (w.scope == recorded_wait::for_future) waits_[w.task].push_back(w);
    }
  }

  prepared_places find() {
    const std::set<std::size_t> refused = refused_offers(r_);
    std::map<std::pair<std::int32_t, std::uint16_t>, std::deque<std::size_t>> sent;  // by sender and place
    for (std::size_t m = 0; m < r_.messages.size(); ++m) {
      const recorded_message& x = r_.messages[m];
      if (x.kind == recorded_message::spawn && x.task < 0 && x.spawner >= 0 && !refused.contains(m))
        sent[{x.spawner, x.destination}].push_back(m);
    }
    for (const recorded_message& x : r_.messages) {
      if (x.kind != recorded_message::result || x.spawner >= 0 || x.task < 0) continue;
      std::deque<std::size_t>& requests = sent[{x.task, x.source}];
      if (requests.empty()) continue;
      add(r_.messages[requests.front()], x);
      requests.pop_front();
    }
    std::erase_if(r_.waits, [this](const recorded_wait& w) { return replaced_.contains({w.task, w.begun}); });
    return std::move(found_);
  }

 private:
  /// When the task's code ended or was suspended.
  std::uint64_t last_of(std::int32_t t) const {
    const std::int32_t next = next_[static_cast<std::size_t>(t)];
    const std::uint64_t last = next < 0 ? r_.task(t).ended : std::min(r_.task(next).created, r_.task(t).ended);
    return std::max(last, r_.task(t).started);
  }
  void add(const recorded_message& asked, const recorded_message& reply) {
    const std::int32_t sender = asked.spawner;
    const std::size_t number = found_.requests.size();
    found_.requests.push_back({.to = asked.destination,
                               .bytes = recorded_message::payload_of(asked.bytes),
                               .reply_bytes = recorded_message::payload_of(reply.bytes),
                               .sender = sender});
    const std::uint64_t at = std::clamp(asked.sent, r_.task(sender).started, last_of(sender));
    found_.steps.push_back({sender, at, at, number, false});
    std::int32_t part = sender;
    for (std::int32_t next; (next = next_[static_cast<std::size_t>(part)]) >= 0; part = next) {
      if (reply.received < r_.task(next).created) break;  // while `part` ran
      if (reply.received > r_.task(next).create_until) continue;
      found_.requests.back().awaited_by = next;
      return;
    }
    await_in(part, reply.received, number);
  }
  void await_in(std::int32_t part, std::uint64_t received, std::size_t number) {
    for (const recorded_wait& w : waits_[part]) {
      if (w.begun > received || w.ended < received) continue;
      request_step& asked = found_.steps.back();  // sent by the progress thread, perhaps when the task waited already
      if (asked.task == part) asked.begun = asked.ended = std::min(asked.begun, w.begun);
      found_.steps.push_back({part, w.begun, w.ended, number, true});
      replaced_.insert({w.task, w.begun});
      return;
    }
    const std::uint64_t at = std::clamp(received, r_.task(part).started, last_of(part));
    found_.steps.push_back({part, at, at, number, true});
  }

  recording& r_;
  const std::vector<std::int32_t> next_;
  std::unordered_map<std::int32_t, std::vector<recorded_wait>> waits_;  // for futures, by task
  std::set<std::pair<std::int32_t, std::uint64_t>> replaced_;           // waits, by task and beginning
  prepared_places found_;
};

/// Moves the creation of tasks that a place has made for itself into the run of the task that they belong to.
void create_early(recording& r) {
  for (recorded_task& t : r.tasks) {
    if (t.has(recorded_task::root) || t.creator < 0) continue;
    if (t.has(recorded_task::outside)) t.create_until = t.created;
    t.created = std::min(t.created, r.task(t.creator).ended);
    t.create_until = std::max(t.created, std::min(t.create_until, r.task(t.creator).ended));
  }
}

/// Lets parts of coroutines wait for whole activities, which end with their last part.
void await_whole_activities(recording& r) {
  for (recorded_dependence& d : r.dependences) d.before = r.first_part_of(d.before);
}

}  // namespace

prepared_places prepare_places(recording& r) {
  if (const auto alone = r.meta.find("place"); alone != r.meta.end())
    throw error("the recording is of place " + printable(alone->second, 20) +
                    " alone, and cannot be replayed: record the program without --addresses, and all its places",
                error_kind::input);
  if (r.places.empty()) return {};
  refuse_unknown(r);
  prepared_places prepared = request_finder(r).find();
  await_whole_activities(r);
  std::map<std::int32_t, std::vector<std::int32_t>> spawned;  // by spawner
  std::set<std::int32_t> spawners;
  for (const recorded_message& m : r.messages) {
    if (m.kind != recorded_message::spawn || m.task < 0 || r.task(m.task).of_data_flow()) continue;
    spawned[m.spawner].push_back(m.task);
    spawners.insert(m.spawner);
  }
  refuse_awaited_spawners(r, spawners);
  // A spawner waits from its offer until it knows that the activity was accepted, and so creates the task meanwhile.
  // One that did not wait continued at once: its activity was accepted at once, or there were credits.
  std::map<std::int32_t, recorded_wait> waited;  // by spawned task
  std::erase_if(r.waits, [&](const recorded_wait& w) {
    const auto spawner = spawned.find(w.task);
    if (spawner == spawned.end()) return false;
    for (const std::int32_t s : spawner->second) {
      if (w.begun >= r.task(s).create_until || w.ended <= r.task(s).created) continue;
      recorded_wait& whole = waited.try_emplace(s, w).first->second;
      whole.begun = std::min(whole.begun, w.begun);
      whole.ended = std::max(whole.ended, w.ended);
      return true;
    }
    return false;
  });
  for (const std::int32_t s : spawned | std::views::values | std::views::join) {
    recorded_task& t = r.tasks[static_cast<std::size_t>(s)];
    const auto wait = waited.find(s);
    t.create_until = wait == waited.end() ? t.created : wait->second.ended;
    if (wait != waited.end()) t.created = std::min(t.created, wait->second.begun);
  }
  std::map<std::int32_t, std::set<std::uint32_t>> of_roots;  // scopes
  for (const recorded_task& t : r.tasks) {
    if (t.creator >= 0 && r.task(t.creator).has(recorded_task::root)) of_roots[t.creator].insert(t.scope);
  }
  for (const auto& [root, scopes] : of_roots) {
    const std::uint64_t end = r.task(root).ended;
    for (const std::uint32_t s : scopes) r.waits.push_back({root, s, 0, end, end});
  }
  create_early(r);
  return prepared;
}

void add_places(program& p) {
  const recording& r = p.recorded;
  if (r.places.empty()) return;
  p.place.resize(p.tasks());
  p.message_bytes.resize(p.tasks());
  p.result_bytes.resize(p.tasks(), -1);
  for (std::size_t i = 0; i < p.tasks(); ++i) {
    const recorded_task& t = r.tasks[i];
    const std::int32_t ran = r.place_of(t.worker);  // none for cancelled tasks and fences: the place of their creators
    if (ran >= 0) {
      p.place[i] = static_cast<std::uint16_t>(ran);
    } else if (t.creator >= 0) {
      p.place[i] = p.place[static_cast<std::size_t>(t.creator)];
    }
  }
  for (const recorded_message& m : r.messages) {
    const std::uint64_t bytes = recorded_message::payload_of(m.bytes);
    if (m.kind == recorded_message::spawn && m.task >= 0) {
      const auto t = static_cast<std::size_t>(m.task);
      p.place[t] = m.destination;
      if (r.tasks[t].of_data_flow()) p.result_bytes[t] = std::max<std::int64_t>(p.result_bytes[t], 0);
      p.message_bytes[t] = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, ~std::uint32_t{0}));
    } else if (m.kind == recorded_message::result && m.spawner >= 0) {
      p.result_bytes[static_cast<std::size_t>(r.first_part_of(m.spawner))] = static_cast<std::int64_t>(bytes);
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
