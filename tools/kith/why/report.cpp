#include "why/report.hpp"

#include "base/printable.hpp"
#include "numbers.hpp"
#include "terminal.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace kith::tools {

namespace {

using analysis::alternative;
using analysis::data_costs;
using analysis::explanation;
using analysis::timeline_entry;
using analysis::used_region;

constexpr const char* modes[] = {"in", "out", "inout", "concurrent", "commutative"};
constexpr const char* priorities[] = {"normal", "high", "low"};

const recorded_task& task_of(const recording& r, std::int32_t t) { return r.tasks[static_cast<std::size_t>(t)]; }

std::string named(const recording& r, std::int32_t t) {
  const recorded_task& task = task_of(r, t);
  if (task.has(recorded_task::fence)) return fmt::format("task {} (a fence)", t);
  const bool is_run = task.has(recorded_task::root) && task.type == 0;  // else a named one
  return fmt::format("task {} ({})", t, is_run ? "run" : printable(r.types[task.type]));
}

std::string where(const recording& r, std::int32_t worker) {
  if (worker < 0) return "nowhere";
  const std::int32_t place = r.place_of(worker);
  return fmt::format("worker {} on node {}{}", worker, r.node_of(worker),
                     place < 0 ? "" : fmt::format(" at place {}", place));
}

/// The event that made the task ready, as text.
std::string came_last(const recording& r, const explanation& e) {
  if (task_of(r, e.released_by).has(recorded_task::fence))
    return named(r, e.released_by) + ", when its group of accesses had ended";
  return named(r, e.released_by) +
         (e.ended_by == e.released_by ? "" : ", with its last child " + named(r, e.ended_by)) + " on " +
         where(r, task_of(r, e.ended_by).worker);
}

std::string kind_of_task(const recorded_task& t) {
  if (t.of_data_flow()) return "a task of a data_flow";
  if (t.continues()) return "a part of a coroutine, after the task that created it";
  std::string text;
  const auto add = [&](recorded_task::flag f, const char* what) {
    if (t.has(f)) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(recorded_task::root, "what runtime::run was given");
  add(recorded_task::keyed, "a node of a keyed graph");
  add(recorded_task::generated, "named by a node's computation, or of a static graph");
  add(recorded_task::discovered, "found by a node's exploration");
  add(recorded_task::fence, "a fence: it has no code, and ends when a group of accesses has ended");
  add(recorded_task::outside, "created by a thread that is no worker");
  add(recorded_task::skipped, "cancelled");
  return text;
}

std::string homes_text(const used_region& u) {
  std::string text;
  for (std::size_t n = 0; n < u.homes.bytes.size(); ++n) {
    if (u.homes.bytes[n] == 0) continue;
    const bool all = u.homes.bytes[n] == u.bytes;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", n, all ? "" : ": " + in_bytes(u.homes.bytes[n]));
  }
  if (u.homes.nowhere != 0) text += (text.empty() ? "" : ", ") + std::string("none yet");
  if (u.homes.at_the_end) text += " (at the end)";
  return text.empty() ? "-" : text;
}

std::string spell_text(const recording& r, const timeline_entry& s) {
  switch (s.what) {
    case timeline_entry::idle: return "idle";
    case timeline_entry::job: return "partitioned a window";
    case timeline_entry::exploration: return "explored " + named(r, s.number);
    case timeline_entry::task: break;
  }
  return named(r, s.number);
}

void print_waiting(const recording& r, const explanation& e) {
  const analysis::meanwhile& m = e.waited;
  const std::uint64_t all = m.until - m.from;
  fmt::print("\n{} {}\n", styled("waited", tone::strong), in_time(all));
  if (all == 0) return;
  const std::uint64_t known = std::min(all, m.busy + m.idle + m.jobs);
  fmt::print("  its worker: {} in tasks, {} idle, {} partitioning, {} between them\n", in_time(m.busy), in_time(m.idle),
             in_time(m.jobs), in_time(all - known));
  constexpr std::size_t most = 8;
  for (std::size_t i = 0; i < m.worker.size() && i < most; ++i) {
    const timeline_entry& s = m.worker[i];
    fmt::print(
        "    {:<32} {:>10} from {}\n", spell_text(r, s), in_time(s.ended - s.begun),
        s.begun < m.from ? in_time(m.from - s.begun) + " before it was ready" : in_time(s.begun - m.from) + " after");
  }
  if (m.worker.size() > most) fmt::print("    and {} more\n", m.worker.size() - most);
  fmt::print(
      "  its {}: {}; {:.0f} % of their time in tasks, {:.0f} % idle; {} began there, {} of them ready before it\n",
      e.place < 0 ? "node" : "node and place", counted(static_cast<std::size_t>(m.node_workers), "worker"),
      100 * static_cast<double>(m.node_busy) / (static_cast<double>(all) * m.node_workers),
      100 * static_cast<double>(m.node_idle) / (static_cast<double>(all) * m.node_workers), counted(m.started, "task"),
      m.ready_before);
}

/// Prints how the task came from another place.
void print_arrival(const explanation& e) {
  const analysis::arrival& a = *e.came;
  const recorded_message& m = a.message;
  fmt::print("  came from place {} in a message of {}", m.source, in_bytes(m.bytes));
  if (m.received != 0) fmt::print(", which travelled {}", in_time(m.received - m.sent));
  if (a.clock_error != 0) fmt::print(" (their clocks agree within {})", in_time(a.clock_error));
  fmt::print("\n");
  if (a.refusals != 0)
    fmt::print("  was refused {}: place {} took it {} after the first offer\n",
               a.refusals == 1 ? "once" : fmt::format("{} times", a.refusals), m.destination,
               in_time(m.sent - a.offered));
}

void print_data(const recording& r, const explanation& e) {
  fmt::print("\n{}\n", styled("its data, as it found it", tone::strong));
  if (e.data.empty()) {
    fmt::print("  it names none\n");
    return;
  }
  fmt::print("  {:>7} {:<11} {:>10} {:>10}  {:<24} {}\n", "region", "access", "declared", "used", "home",
             "written last by");
  constexpr std::size_t most = 16;
  for (std::size_t i = 0; i < e.data.size() && i < most; ++i) {
    const used_region& u = e.data[i];
    fmt::print("  {:>7} {:<11} {:>10} {:>10}  {:<24} {}\n", u.region, modes[u.mode], in_bytes(u.bytes),
               in_bytes(u.touched), homes_text(u),
               u.writer < 0 ? "nobody"
                            : fmt::format("{} on node {}, {} before", named(r, u.writer), u.writer_node,
                                          in_time(task_of(r, e.task).started - task_of(r, u.writer).ended)));
  }
  if (e.data.size() > most) fmt::print("  and {} more\n", e.data.size() - most);
}

void print_nodes(const explanation& e, const data_costs& costs) {
  fmt::print("\n{}\n", styled("on each node", tone::strong));
  fmt::print("  {:>4} {:>7} {:>12} {:>14} {:>12} {:>12} {:>14}\n", "node", "workers", "home bytes", "written there",
             "remote", "data time", "by distance");
  for (const alternative& n : e.nodes) {
    fmt::print("  {:>4} {:>7} {:>12} {:>14} {:>12} {:>12} {:>14}{}\n", n.node, n.workers, in_bytes(n.home_bytes),
               in_bytes(n.written_bytes), in_bytes(n.remote_bytes), n.data_ns ? in_time(*n.data_ns) : "-",
               n.weighted ? in_bytes(*n.weighted) : "-", n.node == e.node ? "  <- it ran here" : "");
  }
  if (!e.nodes.empty() && e.nodes.front().data_ns) {
    fmt::print(
        "  data time: on {}, idle, with cold caches; by distance: used bytes times distance over the local one\n",
        printable(costs.source()));
  } else if (!costs.source().empty()) {
    fmt::print("  no data times: '{}' is no described machine; --machine NAME takes one (kith machines)\n",
               printable(costs.source()));
  } else {
    fmt::print("  no costs: the recording has no distances of its machine; --machine NAME takes one (kith machines)\n");
  }
}

}  // namespace

void print_explanation(const recording& r, const explanation& e, const data_costs& costs) {
  const recorded_task& t = task_of(r, e.task);
  fmt::print("{} ran on {}\n", styled(named(r, e.task), tone::strong), where(r, t.worker));
  fmt::print("policy {}, {}{}\n\n", printable(r.meta_or("policy", "not named")),
             r.meta_or("engine", "native") == "sim" ? "simulated on " : "on ",
             printable(r.meta_or("machine", "this machine")));
  for (const std::string& reason : e.reasons) fmt::print("* {}\n", folded(printable(reason), 2));

  fmt::print("\n{}\n", styled("what it was", tone::strong));
  if (const std::string what = kind_of_task(t); !what.empty()) fmt::print("  {}\n", what);
  if (t.creator >= 0) fmt::print("  created by {}, {}\n", named(r, t.creator), where(r, e.creator_worker));
  if (e.came) print_arrival(e);
  if (t.has(recorded_task::keyed) || (t.has(recorded_task::generated) && !t.of_data_flow()))
    fmt::print("  key {0} (0x{0:x})\n", t.key);
  fmt::print("  color {}, node {}, priority {}\n", t.color < 0 ? "not given" : std::to_string(t.color),
             t.node < 0 ? "not given" : std::to_string(t.node), priorities[std::min<std::size_t>(t.priority, 2)]);
  fmt::print("\n{}, after the recording began\n", styled("when", tone::strong));
  fmt::print("  created {}", in_time(t.created));
  if (t.explorer >= 0) fmt::print(", explored {} by {}", in_time(t.explore_started), where(r, t.explorer));
  fmt::print(", ready {}, started {}, ended {} (ran {})", in_time(t.ready), in_time(t.started), in_time(t.ended),
             in_time(t.ended - t.started));
  if (t.completed > t.ended) fmt::print(", its last child {}", in_time(t.completed));
  fmt::print("\n");
  if (e.predecessors != 0)
    fmt::print("  {}{}\n", counted(e.predecessors, "dependence"),
               e.released_by < 0 ? ", all ended before it was created" : "; last came " + came_last(r, e));
  if (t.worker >= 0) print_waiting(r, e);
  print_data(r, e);
  print_nodes(e, costs);
}

namespace {

using json = nlohmann::ordered_json;

json known(std::int64_t n) { return n < 0 ? json() : json(n); }

json json_of(const std::vector<used_region>& data) {
  json all = json::array();
  for (const used_region& u : data)
    all.push_back({{"region", u.region},
                   {"access", modes[u.mode]},
                   {"declared_bytes", u.bytes},
                   {"used_bytes", u.touched},
                   {"home_bytes", u.homes.bytes},
                   {"nowhere_bytes", u.homes.nowhere},
                   {"home_at_the_end", u.homes.at_the_end},
                   {"writer", known(u.writer)},
                   {"writer_node", known(u.writer_node)}});
  return all;
}

json json_of(const std::vector<alternative>& nodes) {
  json all = json::array();
  for (const alternative& n : nodes)
    all.push_back({{"node", n.node},
                   {"workers", n.workers},
                   {"home_bytes", n.home_bytes},
                   {"written_bytes", n.written_bytes},
                   {"remote_bytes", n.remote_bytes},
                   {"data_ns", n.data_ns ? json(*n.data_ns) : json()},
                   {"weighted_bytes", n.weighted ? json(*n.weighted) : json()}});
  return all;
}

json json_of(const analysis::meanwhile& m) {
  static constexpr const char* kinds[] = {"task", "exploration", "idle", "job"};
  json worker = json::array();
  for (const timeline_entry& s : m.worker)
    worker.push_back(
        {{"what", kinds[s.what]}, {"task", known(s.number)}, {"begun_ns", s.begun}, {"ended_ns", s.ended}});
  return {{"worker", std::move(worker)}, {"worker_busy_ns", m.busy},
          {"worker_idle_ns", m.idle},    {"node_workers", m.node_workers},
          {"node_busy_ns", m.node_busy}, {"node_idle_ns", m.node_idle},
          {"node_tasks", m.started},     {"node_tasks_ready_before", m.ready_before}};
}

json json_of(const analysis::arrival& came) {
  const recorded_message& m = came.message;
  return {{"source", m.source},
          {"bytes", m.bytes},
          {"sent_ns", m.sent},
          {"received_ns", m.received != 0 ? json(m.received) : json()},
          {"clock_error_ns", came.clock_error},
          {"refusals", came.refusals}};
}

}  // namespace

json explanation_json(const recording& r, const explanation& e, const data_costs& costs) {
  const recorded_task& t = task_of(r, e.task);
  const bool node = t.has(recorded_task::keyed) || t.has(recorded_task::generated);
  json stolen;
  if (e.stolen)
    stolen = {{"victim", known(e.stolen->victim)}, {"at_ns", e.stolen->at}, {"right_before", e.first_after_steal}};
  return {{"task", e.task},
          {"type", r.types[t.type]},
          {"policy", r.meta_or("policy", "")},
          {"worker", known(t.worker)},
          {"node", known(e.node)},
          {"place", known(e.place)},
          {"message", e.came ? json_of(*e.came) : json()},
          {"creator", known(t.creator)},
          {"creator_worker", known(e.creator_worker)},
          {"key", node ? json(t.key) : json()},
          {"color_hint", known(t.color)},
          {"node_hint", known(t.node)},
          {"created_ns", t.created},
          {"ready_ns", t.ready},
          {"started_ns", t.started},
          {"ended_ns", t.ended},
          {"completed_ns", t.completed != 0 ? json(t.completed) : json()},
          {"waited_ns", e.waited.until - e.waited.from},
          {"predecessors", e.predecessors},
          {"released_by", known(e.released_by)},
          {"ended_by", known(e.ended_by)},
          {"reasons", e.reasons},
          {"last_steal", std::move(stolen)},
          {"meanwhile", json_of(e.waited)},
          {"data", json_of(e.data)},
          {"machine", costs.source().empty() ? json() : json(costs.source())},
          {"nodes", json_of(e.nodes)}};
}

}  // namespace kith::tools
