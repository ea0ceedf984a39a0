#include "analysis/why.hpp"

#include "analysis/reason.hpp"
#include "recording/completed_times.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <cmath>

namespace kith::analysis {

namespace {

/// Scales `amount` by part / whole.
std::uint64_t share(std::uint64_t part, std::uint64_t whole, std::uint64_t amount) {
  if (whole == 0 || part == whole) return part == whole ? amount : 0;
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(part) * static_cast<double>(amount) / static_cast<double>(whole)));
}

void add_data(const recording& r, explanation& e, const home_history& homes) {
  const recorded_task& t = r.task(e.task);
  const std::uint64_t when = t.worker < 0 ? ~std::uint64_t{0} : t.started;
  const auto i = static_cast<std::size_t>(e.task);
  constexpr std::size_t most = std::size_t{1} << 22;  // of accesses times nodes
  if ((r.first_access[i + 1] - r.first_access[i]) * homes.nodes() > most)
    throw error("task " + std::to_string(e.task) + " has " + std::to_string(r.first_access[i + 1] - r.first_access[i]) +
                " accesses on " + std::to_string(homes.nodes()) + " memory nodes: too many to be explained");
  const std::vector<std::int32_t> writers = last_writers(r, when);
  for (std::uint64_t a = r.first_access[i]; a < r.first_access[i + 1]; ++a) {
    const recorded_access& x = r.accesses[a];
    used_region u{.region = x.region, .mode = x.mode, .bytes = x.bytes, .touched = x.touched};
    const std::uint64_t all = r.regions[x.region].bytes;
    u.homes = homes.before(x.region, when);
    for (std::uint64_t& b : u.homes.bytes) b = share(b, all, x.bytes);
    u.homes.nowhere = share(u.homes.nowhere, all, x.bytes);
    u.writer = writers[x.region];
    if (u.writer >= 0) u.writer_node = r.node_of(r.task(u.writer).worker);
    e.bytes += x.bytes;
    e.nowhere += u.homes.nowhere;
    e.data.push_back(std::move(u));
  }
}

alternative on_node(const recording& r, const explanation& e, std::size_t n, const data_costs& costs) {
  alternative x{.node = static_cast<std::int32_t>(n)};
  for (std::int32_t w = 0; w < static_cast<std::int32_t>(r.worker_node.size()); ++w)
    x.workers += r.node_of(w) == x.node && r.place_of(w) == e.place ? 1 : 0;
  double ns = 0, weighted = 0;
  bool timed = true, far = true;
  for (const used_region& u : e.data) {
    x.home_bytes += u.homes.bytes[n];
    if (u.writer_node == static_cast<std::int32_t>(n)) x.written_bytes += u.bytes;
    // An access that names a region again uses no bytes.
    for (std::size_t from = 0; from <= u.homes.bytes.size(); ++from) {
      const bool nowhere = from == u.homes.bytes.size();
      const std::uint64_t used = share(nowhere ? u.homes.nowhere : u.homes.bytes[from], u.bytes, u.touched);
      if (used == 0) continue;
      const std::size_t source = nowhere ? n : from;
      if (source != n) x.remote_bytes += used;
      const std::optional<double> took = costs.nanoseconds(source, n, used);
      timed = timed && took.has_value();
      ns += took.value_or(0);
      const std::optional<int> distance = costs.distance(source, n);
      far = far && distance.has_value();
      weighted += static_cast<double>(used) * distance.value_or(10) / 10;
    }
  }
  if (timed && costs.nanoseconds(n, n, 0)) x.data_ns = ns;
  if (far && costs.distance(n, n)) x.weighted = static_cast<std::uint64_t>(std::llround(weighted));
  return x;
}

/// The task whose end completed `t`: `t` itself, or a descendant.
std::int32_t ended_last(const recording& r, std::int32_t t) {
  const std::vector<std::int32_t> parents = parents_of(r);
  std::vector<std::int32_t> last_child(r.tasks.size(), -1);
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    if (parents[i] < 0) continue;
    std::int32_t& last = last_child[static_cast<std::size_t>(parents[i])];
    if (last < 0 || r.task(last).completed <= r.tasks[i].completed) last = static_cast<std::int32_t>(i);
  }
  for (;;) {
    const std::int32_t child = last_child[static_cast<std::size_t>(t)];
    if (child < 0 || r.task(child).completed <= r.task(t).ended) return t;
    t = child;
  }
}

/// Adds the message that has made the task, if any.
void add_arrival(const recording& r, explanation& e) {
  for (const recorded_message& m : r.messages) {
    if (m.kind != recorded_message::spawn || m.task != e.task) continue;
    arrival a{.message = m, .offered = r.task(e.task).created};
    // The order of offers of one spawner to one place is that of its activities: it waits for each to be accepted.
    for (const recorded_message& other : r.messages) {
      if (other.kind == recorded_message::spawn && other.task < 0 && other.spawner == m.spawner &&
          other.destination == m.destination && other.sent >= a.offered && other.sent < m.sent)
        ++a.refusals;
    }
    a.clock_error = r.places[m.source].error_ns + r.places[m.destination].error_ns;
    e.came = a;
    return;
  }
}

/// Adds the last steal by the worker before the task started.
void add_steal(const recording& r, explanation& e) {
  const recorded_task& t = r.task(e.task);
  const auto before = [&](std::uint64_t from, std::uint64_t until) {
    const recorded_steal* last = nullptr;
    for (const recorded_steal& s : r.steals) {
      if (s.worker == t.worker && s.at >= from && s.at <= until) last = &s;
    }
    return last;
  };
  const recorded_steal* const last = before(0, t.started);
  if (last == nullptr) return;
  e.stolen = *last;
  e.first_after_steal = std::ranges::none_of(r.tasks, [&](const recorded_task& o) {
    return &o != &t && o.worker == t.worker && !o.has(recorded_task::fence) && o.started >= last->at &&
           o.started < t.started;
  });
}

}  // namespace

explanation explain(const recording& r, std::int32_t task, const data_costs& costs) {
  const home_history homes(r);
  const recorded_task& t = r.task(task);
  explanation e{.task = task};
  e.node = r.node_of(t.worker);
  e.place = r.place_of(t.worker);
  add_arrival(r, e);
  if (t.creator >= 0) {
    const recorded_task& creator = r.task(t.creator);
    e.creator_worker = t.has(recorded_task::discovered) ? creator.explorer : creator.worker;
  }
  const auto i = static_cast<std::size_t>(task);
  std::uint64_t last = 0;
  for (std::uint64_t d = r.first_dependence[i]; d < r.first_dependence[i + 1]; ++d) {
    const std::int32_t before = r.dependences[d].before;
    ++e.predecessors;
    const std::uint64_t completed = r.task(before).completed;
    if (completed < std::max(t.create_until, t.explore_ended) || completed < last) continue;
    last = completed;
    e.released_by = before;
  }
  if (e.released_by >= 0) e.ended_by = ended_last(r, e.released_by);
  if (t.worker >= 0) {
    e.waited = while_waiting(r, t.worker, std::min(t.ready, t.started), t.started);
    add_steal(r, e);
  }
  add_data(r, e, homes);
  for (std::size_t n = 0; n < homes.nodes(); ++n) e.nodes.push_back(on_node(r, e, n, costs));
  e.reasons = reasons_for(r, e, costs);
  return e;
}

}  // namespace kith::analysis
