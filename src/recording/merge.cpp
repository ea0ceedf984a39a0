#include "recording/merge.hpp"

#include "recording/completed_times.hpp"
#include "recording/counts.hpp"
#include "recording/place_links.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace kith {

namespace {

constexpr std::uint32_t most_places = 1 << 16;

using sent_message = place_part::message;

std::vector<std::vector<std::string>> matrix_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line, '/');) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

class merger {
 public:
  explicit merger(std::vector<place_part> parts) : parts_(std::move(parts)), pairs_(parts_.size()) {
    std::ranges::sort(parts_, {}, &place_part::number);
    const auto twice = std::ranges::adjacent_find(parts_, {}, &place_part::number);
    if (twice != parts_.end())
      throw error("two recordings of place " + std::to_string(twice->number) + " of one job", error_kind::input);
  }

  recording merge() {
    out_.meta = parts_.front().recorded.meta;
    const std::vector<clock_relation> clocks = clocks_of(parts_);
    for (std::size_t i = 0; i < parts_.size(); ++i) pairs_[i].clock = clocks[i];
    add_places();
    add_machines();
    add_types();
    links_ = links_between(parts_, static_cast<std::uint32_t>(out_.places.size()));
    spawned_ = spawned_tasks(parts_, links_);
    order_tasks();
    add_tasks();
    add_messages();
    add_events();
    correct_times();
    set_completed_times(out_);
    out_.meta.erase("place");
    out_.meta["places"] = std::to_string(out_.places.size());
    out_.meta["workers"] = std::to_string(out_.worker_node.size());
    out_.meta["clock_corrected"] = std::to_string(corrected_);
    out_.meta["clock_corrected_ns"] = std::to_string(most_corrected_);
    return std::move(out_);
  }

 private:
  struct numbers {  // of one part: what is added to its own
    std::uint32_t first_worker = 0, first_scope = 0;
    std::int16_t first_node = 0;
    std::uint64_t address = 0;
    std::vector<std::uint16_t> types;
    std::vector<std::uint32_t> regions;
    std::vector<std::int32_t> tasks;
    clock_relation clock;
  };
  /// The time of a part as time of the recording.
  std::uint64_t time(std::size_t part, std::uint64_t own) const {
    return static_cast<std::uint64_t>(std::max(0.0, std::round(pairs_[part].clock.at(static_cast<double>(own)))));
  }
  /// 0 means that the time is not known, and stays 0.
  std::uint64_t time_or_none(std::size_t part, std::uint64_t own) const { return own == 0 ? 0 : time(part, own); }

  void add_places() {
    const std::uint32_t all = std::max<std::uint32_t>(parts_.front().places, std::uint32_t{parts_.back().number} + 1);
    if (all > most_places)
      throw error("damaged: place " + std::to_string(parts_.back().number) + " of " + std::to_string(all) +
                      ", expected up to " + std::to_string(most_places),
                  error_kind::input);
    out_.places.resize(all);
    std::size_t i = 0;
    for (std::uint32_t n = 0; n < all; ++n) {
      recorded_place& to = out_.places[n];
      to.first_worker = static_cast<std::uint32_t>(out_.worker_node.size());
      if (i == parts_.size() || parts_[i].number != n) continue;
      const place_part& p = parts_[i];
      to.workers = static_cast<std::uint32_t>(p.recorded.worker_node.size());
      to.host = p.host;
      to.offset_ns = std::llround(pairs_[i].clock.offset);
      to.drift_ppb = std::llround(pairs_[i].clock.drift * 1e9);
      to.error_ns = static_cast<std::uint64_t>(std::ceil(pairs_[i].clock.error));
      pairs_[i].first_worker = to.first_worker;
      out_.worker_node.insert(out_.worker_node.end(), p.recorded.worker_node.begin(), p.recorded.worker_node.end());
      ++i;
    }
  }

  /// One machine of several: the nodes of each host, one after the other.
  void add_machines() {
    std::map<std::string, std::pair<std::int16_t, std::int16_t>> hosts;  // first node, nodes
    std::vector<std::vector<std::string>> near;                          // the rows of all machines
    std::vector<std::pair<std::size_t, std::size_t>> span;  // of each row: its machine's first node, and end
    std::int64_t nodes = 0;
    std::string worker_nodes;
    bool known = true;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const recording& r = parts_[i].recorded;
      const auto mine = std::clamp<std::int64_t>(r.meta_number("nodes", 1), 1, 1024);
      const auto [host, fresh] = hosts.try_emplace(parts_[i].host, static_cast<std::int16_t>(nodes), mine);
      if (fresh) {
        if (nodes + mine > 1024) throw error("the places' machines have more than 1024 memory nodes in all");
        const std::vector<std::vector<std::string>> rows = matrix_of(r.meta_or("distances", ""));
        known = known && std::cmp_equal(rows.size(), mine);
        for (const std::vector<std::string>& row : rows) {
          near.push_back(row);
          span.emplace_back(nodes, nodes + mine);
        }
        nodes += mine;
      }
      pairs_[i].first_node = host->second.first;
      recorded_place& to = out_.places[parts_[i].number];
      to.first_node = host->second.first;
      to.nodes = host->second.second;
      for (std::uint32_t w = to.first_worker; w < to.first_worker + to.workers; ++w) {
        out_.worker_node[w] = static_cast<std::int16_t>(out_.worker_node[w] + to.first_node);
        worker_nodes += (worker_nodes.empty() ? "" : " ") + std::to_string(out_.worker_node[w]);
      }
    }
    out_.meta["worker_nodes"] = worker_nodes;
    out_.meta["nodes"] = std::to_string(nodes);
    if (hosts.size() == 1) return;
    out_.meta["machine"] += " and others, " + std::to_string(hosts.size()) + " machines";
    std::string distances;
    for (std::size_t row = 0; known && row < near.size(); ++row) {
      distances += row == 0 ? "" : "/";
      for (std::size_t to = 0; to < near.size(); ++to) {
        const bool here = to >= span[row].first && to < span[row].second && to - span[row].first < near[row].size();
        distances +=
            (to == 0 ? "" : ",") + (here ? near[row][to - span[row].first] : std::to_string(distance_of_machines));
      }
    }
    out_.meta["distances"] = distances;
  }

  void add_types() {
    std::unordered_map<std::string, std::uint16_t> known;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (const std::string& name : parts_[i].recorded.types) {
        const auto [at, fresh] = known.try_emplace(name, static_cast<std::uint16_t>(out_.types.size()));
        if (fresh) out_.types.push_back(name);
        pairs_[i].types.push_back(at->second);
      }
    }
  }

  void add_messages() {
    std::map<std::pair<std::size_t, std::uint64_t>, std::int32_t> asked;  // by place and result: who spawned for it
    for (const message_link& l : links_) {
      if (l.sent != nullptr && l.sent->kind == recorded_message::spawn && l.sent->result != 0)
        asked[{l.source, l.sent->result}] = l.sent->task;
    }
    for (const message_link& l : links_) {
      const sent_message& any = l.sent != nullptr ? *l.sent : *l.received;
      recorded_message m{.kind = any.kind,
                         .source = static_cast<std::uint16_t>(l.source),
                         .destination = static_cast<std::uint16_t>(l.destination),
                         .bytes = any.bytes};
      const std::optional<std::size_t> from = part_of(parts_, m.source), to = part_of(parts_, m.destination);
      if (l.sent != nullptr && from) {
        m.sent = time(*from, l.sent->at);
        if (l.sent->task >= 0) m.spawner = pairs_[*from].tasks[static_cast<std::size_t>(l.sent->task)];
      }
      if (l.received != nullptr && to) {
        m.received = time(*to, l.received->at);
        std::int32_t task = l.received->task;
        if (m.kind == recorded_message::result) {
          const auto who = asked.find({l.destination, l.received->result});
          task = who == asked.end() ? -1 : who->second;
        }
        if (task >= 0) m.task = pairs_[*to].tasks[static_cast<std::size_t>(task)];
        if (l.sent == nullptr) m.sent = m.received;
        correct(m.received, m.sent);
      }
      if (m.kind == recorded_message::spawn && m.task >= 0 && out_.task(m.task).creator != m.spawner) m.task = -1;
      out_.messages.push_back(m);
    }
    std::ranges::sort(out_.messages, {}, [](const recorded_message& m) {
      return std::tuple(m.sent, m.source, m.destination, m.received, m.kind, m.task);
    });
  }

  /// The next task of a part.
  struct head {
    std::size_t task = 0;
    std::uint64_t created = 0;
    const spawned_task* from = nullptr;  // if another place has spawned it
    bool ended = false;                  // there is no further task
  };
  head head_at(std::size_t part, std::size_t task) const {
    const std::vector<recorded_task>& tasks = parts_[part].recorded.tasks;
    if (task == tasks.size()) return {.ended = true};
    const auto from = spawned_.find({part, static_cast<std::int32_t>(task)});
    return {task, time(part, tasks[task].created), from == spawned_.end() ? nullptr : &from->second, false};
  }
  bool creator_is_there(const head& h) const {
    return h.from == nullptr || pairs_[h.from->part].tasks[static_cast<std::size_t>(h.from->spawner)] >= 0;
  }

  /// Merges the parts by the times of creation, so that each part keeps its order, a creator comes before the tasks
  /// that it has created, and fences stay behind the tasks that asked for them.
  void order_tasks() {
    std::vector<head> heads;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      pairs_[i].tasks.assign(parts_[i].recorded.tasks.size(), -1);
      heads.push_back(head_at(i, 0));
    }
    for (;;) {
      head* best = nullptr;
      for (const bool any : {false, true}) {  // any: a second pass, for damaged parts whose creators form a cycle
        for (head& h : heads) {
          if (h.ended || (!any && !creator_is_there(h))) continue;
          if (best == nullptr || h.created < best->created) best = &h;
        }
        if (best != nullptr) break;
      }
      if (best == nullptr) return;
      const auto part = static_cast<std::size_t>(best - heads.data());
      const std::vector<recorded_task>& tasks = parts_[part].recorded.tasks;
      std::size_t n = best->task;
      do {
        pairs_[part].tasks[n] = static_cast<std::int32_t>(order_.size());
        order_.emplace_back(part, n);
        ++n;
      } while (n < tasks.size() && tasks[n].has(recorded_task::fence));
      *best = head_at(part, n);
    }
  }

  std::uint32_t region(std::size_t part, std::uint32_t own) {
    std::vector<std::uint32_t>& known_as = pairs_[part].regions;
    const std::vector<recorded_region>& regions = parts_[part].recorded.regions;
    if (known_as.empty()) {
      for (const recorded_region& r : regions) {
        recorded_region mine = r;
        mine.address += pairs_[part].address;
        if (mine.home >= 0) mine.home = static_cast<std::int16_t>(mine.home + pairs_[part].first_node);
        const auto [at, fresh] = regions_.try_emplace(mine.address, static_cast<std::uint32_t>(out_.regions.size()));
        if (fresh) out_.regions.push_back(mine);
        recorded_region& known = out_.regions[at->second];
        known.bytes = std::max(known.bytes, mine.bytes);
        if (known.home < 0) known.home = mine.home;
        known_as.push_back(at->second);
      }
    }
    return known_as[own];
  }

  void add_tasks() {
    std::uint32_t scopes = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      pairs_[i].first_scope = scopes;
      // Processes have addresses of their own, of less than 2^48 each.
      if (parts_[i].clock != parts_.front().clock) pairs_[i].address = std::uint64_t{parts_[i].number} << 48;
      std::uint32_t last = 0;
      for (const recorded_task& t : parts_[i].recorded.tasks) last = std::max(last, t.scope + 1);
      for (const recorded_wait& w : parts_[i].recorded.waits) {
        if (w.scope != recorded_wait::for_future) last = std::max(last, w.scope + 1);
      }
      scopes += last;
    }
    for (const message_link& l : links_) {
      if (l.received != nullptr && l.received->kind == recorded_message::spawn && l.received->task >= 0)
        arrived_.emplace_back(*part_of(parts_, l.destination), l.received->task);
    }
    std::ranges::sort(arrived_);
    std::map<std::int32_t, std::uint32_t> scope_of;  // by spawner
    out_.first_access.assign(1, 0);
    out_.first_dependence.assign(1, 0);
    for (const auto& [i, n] : order_) {
      const recording& r = parts_[i].recorded;
      recorded_task t = r.tasks[n];
      const numbers& add = pairs_[i];
      const auto spawned = spawned_.find({i, static_cast<std::int32_t>(n)});
      t.scope += add.first_scope;
      t.type = add.types[t.type];
      if (t.creator >= 0) t.creator = add.tasks[static_cast<std::size_t>(t.creator)];
      if (t.worker >= 0) t.worker += static_cast<std::int32_t>(add.first_worker);
      if (t.explorer >= 0) t.explorer = static_cast<std::int16_t>(t.explorer + add.first_worker);
      if (t.color >= 0) t.color += static_cast<std::int32_t>(add.first_worker);
      if (t.node >= 0) t.node = static_cast<std::int16_t>(t.node + add.first_node);
      t.created = time(i, t.created);
      t.create_until = time(i, t.create_until);
      t.ready = time_or_none(i, t.ready);
      t.started = time_or_none(i, t.started);
      t.ended = time_or_none(i, t.ended);
      t.completed = time_or_none(i, t.completed);
      t.explore_started = time_or_none(i, t.explore_started);
      t.explore_ended = time_or_none(i, t.explore_ended);
      if (spawned != spawned_.end()) {
        const spawned_task& from = spawned->second;
        const std::int32_t creator = pairs_[from.part].tasks[static_cast<std::size_t>(from.spawner)];
        if (creator >= 0 && creator < static_cast<std::int32_t>(out_.tasks.size())) {
          t.creator = creator;
          t.flags &= static_cast<std::uint8_t>(~recorded_task::outside);
          // An activity with a result has a scope of its own: its future is waited for, not the finish.
          const auto [scope, fresh] =
              from.with_result ? std::pair(scope_of.end(), true) : scope_of.try_emplace(creator, scopes);
          t.scope = fresh ? scopes++ : scope->second;
          t.created = std::min(time(from.part, from.sent), t.created);
          if (from.accepted != 0) t.create_until = std::max(t.create_until, time(from.part, from.accepted));
        }
      } else if (t.has(recorded_task::outside) && parts_[i].number == 0 && !is_activity(i, n)) {
        t.flags = static_cast<std::uint8_t>(recorded_task::root | (t.flags & recorded_task::skipped));
        t.create_until = t.created;  // what place_runtime::run was given
      }
      out_.tasks.push_back(t);
      for (std::uint64_t a = r.first_access[n]; a < r.first_access[n + 1]; ++a) {
        recorded_access x = r.accesses[a];
        x.region = region(i, x.region);
        out_.accesses.push_back(x);
      }
      for (std::uint64_t d = r.first_dependence[n]; d < r.first_dependence[n + 1]; ++d)
        out_.dependences.push_back(
            {add.tasks[static_cast<std::size_t>(r.dependences[d].before)], r.dependences[d].bytes});
      out_.first_access.push_back(out_.accesses.size());
      out_.first_dependence.push_back(out_.dependences.size());
    }
  }

  /// Whether the place has made the task, for a message or for itself: of a coroutine, or of an activity that no task
  /// has spawned.
  bool is_activity(std::size_t part, std::size_t task) const {
    const auto n = static_cast<std::int32_t>(task);
    const auto& all = parts_[part].continuations;  // sorted
    return std::ranges::binary_search(all, n, {}, [](const auto& c) { return c.first; }) ||
           std::ranges::binary_search(arrived_, std::pair(part, n));
  }

  void add_events() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const recording& r = parts_[i].recorded;
      const numbers& add = pairs_[i];
      const auto worker = [&add](std::int16_t w) {
        return static_cast<std::int16_t>(w < 0 ? w : w + static_cast<std::int32_t>(add.first_worker));
      };
      const auto node = [&add](std::int16_t n) { return static_cast<std::int16_t>(n < 0 ? n : n + add.first_node); };
      for (recorded_wait w : r.waits) {
        w.task = add.tasks[static_cast<std::size_t>(w.task)];
        w.worker = worker(w.worker);
        w.begun = time(i, w.begun);
        w.ended = time(i, w.ended);
        if (w.scope != recorded_wait::for_future) w.scope += add.first_scope;
        out_.waits.push_back(w);
      }
      for (const recorded_steal& s : r.steals)
        out_.steals.push_back({worker(s.worker), worker(s.victim), time(i, s.at)});
      for (const recorded_idle& x : r.idles)
        out_.idles.push_back({worker(x.worker), time(i, x.begun), time(i, x.ended)});
      for (const recorded_job& j : r.jobs)
        out_.jobs.push_back({worker(j.worker), j.tasks, j.dependences, time(i, j.begun), time(i, j.ended)});
      add_counts(out_.counts, r.counts, add.tasks);
      for (const recorded_mark& m : r.marks) out_.marks.push_back({m.name, time(i, m.at)});
      for (const recorded_home& h : r.homes)
        out_.homes.push_back({region(i, h.region), node(h.node), h.bytes, time(i, h.at)});
      for (recorded_allocation a : r.allocations) {
        a.address += add.address;
        a.node = node(a.node);
        a.at = time(i, a.at);
        a.released = time_or_none(i, a.released);
        out_.allocations.push_back(a);
      }
    }
    std::ranges::sort(out_.waits, {}, &recorded_wait::begun);
    std::ranges::sort(out_.steals, {}, &recorded_steal::at);
    std::ranges::sort(out_.idles, {}, &recorded_idle::begun);
    std::ranges::sort(out_.jobs, {}, &recorded_job::begun);
    sort_counts(out_.counts);
    std::ranges::sort(out_.marks, {}, &recorded_mark::at);
    std::ranges::sort(out_.allocations, {}, &recorded_allocation::at);
    std::ranges::sort(out_.homes, {}, [](const recorded_home& h) { return std::tuple(h.region, h.at, h.node); });
    name_awaited_results();
  }

  /// A wait for a future ends when its result has come: the one that came last before the end, if any came meanwhile.
  void name_awaited_results() {
    std::unordered_map<std::int32_t, std::vector<const recorded_message*>> came;  // by the task that waits
    for (const recorded_message& m : out_.messages) {
      if (m.kind == recorded_message::result && m.task >= 0 && m.spawner >= 0) came[m.task].push_back(&m);
    }
    for (recorded_wait& w : out_.waits) {
      const auto of = came.find(w.task);
      if (w.scope != recorded_wait::for_future || of == came.end()) continue;
      const recorded_message* last = nullptr;
      for (const recorded_message* m : of->second) {
        if (m->received >= w.begun && m->received <= w.ended && (last == nullptr || m->received > last->received))
          last = m;
      }
      if (last != nullptr && out_.task(last->spawner).creator == w.task) w.scope = out_.task(last->spawner).scope;
    }
  }

  void correct(std::uint64_t& time, std::uint64_t least) {
    if (time >= least) return;
    ++corrected_;
    most_corrected_ = std::max(most_corrected_, least - time);
    time = least;
  }

  void correct_times() {
    for (recorded_task& t : out_.tasks) {
      if (t.creator >= 0) correct(t.created, out_.task(t.creator).created);
      correct(t.create_until, t.created);
      if (t.worker < 0 && t.started == 0) continue;
      correct(t.started, t.created);
      if (t.ended != 0) correct(t.ended, t.started);
      if (t.completed != 0) correct(t.completed, t.ended);
      t.ready = std::min(t.ready, t.started);
    }
  }

  std::vector<place_part> parts_;
  std::vector<numbers> pairs_;  // by part
  std::vector<message_link> links_;
  spawned_by_task spawned_;
  std::vector<std::pair<std::size_t, std::int32_t>> arrived_;  // part and task, of received activities
  std::vector<std::pair<std::size_t, std::size_t>> order_;     // part and task, in the new order
  std::unordered_map<std::uint64_t, std::uint32_t> regions_;   // by address
  std::uint64_t corrected_ = 0, most_corrected_ = 0;
  recording out_;
};

}  // namespace

recording merge_places(std::vector<place_part> parts) { return merger(std::move(parts)).merge(); }

}  // namespace kith
