#include "recording/check.hpp"

#include "machine/limits.hpp"
#include "recording/columns.hpp"
#include "recording/completed_times.hpp"
#include "recording/touches.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>
#include <kith/memory.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kith {

namespace {

using columns::holds;

constexpr std::int64_t most_bytes = (std::int64_t{1} << 48) - 1;    // the addresses of a process
constexpr std::int64_t latest = (std::int64_t{1} << 52) - 1;        // 52 days; fits 62 bits in picoseconds
constexpr std::int64_t most_in_all = (std::int64_t{1} << 56) - 1;   // bytes that one task reads, or of all allocations
constexpr std::int64_t most_touches = (std::int64_t{1} << 40) - 1;  // of one stream, or of all
constexpr std::size_t most_name = std::size_t{64} << 10;            // as in a log

struct range {
  std::int64_t least, most;
};

class checker {
 public:
  checker(const recording& r, const std::string& file) : r_(r), file_(file) {}

  void all() {
    if (r_.worker_node.empty()) refuse("table worker has no rows, expected the workers of the run");
    if (r_.worker_node.size() > most_workers)
      refuse("table worker has " + text(r_.worker_node.size()) + " rows, expected up to " + text(most_workers));
    meta();
    columns::for_each_table(r_, [this]<class Table>(Table, const auto& rows) { cells<Table>(rows); });
    for (std::size_t t = 0; t < r_.tasks.size(); ++t) task(t);
    graphs();
    completions();
    waits();
    spells("idle", r_.idles);
    spells("job", r_.jobs);
    calibrations();
    counts();
    allocations();
    addresses();
    places();
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw error(file_ + ": damaged: " + what + next_step_if_damaged, error_kind::input);
  }
  [[noreturn]] void refuse(const char* table, std::size_t row, const std::string& what) const {
    refuse("table " + std::string(table) + ", row " + text(row) + ": " + what);
  }
  template <class T>
  static std::string text(T value) {
    return std::to_string(value);
  }

  /// Bounds of what a column holds.
  range bounds(holds what) const {
    const auto below = [](std::size_t count) { return static_cast<std::int64_t>(count) - 1; };
    switch (what) {
      case holds::type: return {0, below(r_.types.size())};
      case holds::task: return {0, below(r_.tasks.size())};
      case holds::task_or_none:
      case holds::creator: return {-1, below(r_.tasks.size())};
      case holds::scope: return {0, below(r_.tasks.size() + r_.waits.size())};
      case holds::region: return {0, below(r_.regions.size())};
      case holds::worker: return {-1, below(r_.worker_node.size())};
      case holds::node: return {0, most_recorded_nodes - 1};
      case holds::node_or_none: return {-1, most_recorded_nodes - 1};
      case holds::time: return {0, latest};
      case holds::bytes: return {0, most_bytes};
      case holds::total_bytes: return {0, most_in_all};
      case holds::flags: return {0, 255};
      case holds::priority: return {0, 2};
      case holds::mode: return {0, static_cast<std::int64_t>(mode::commutative)};
      case holds::distribution: return {0, static_cast<std::int64_t>(distribution::deferred)};
      case holds::power: return {0, 47};
      case holds::count: return {0, std::numeric_limits<std::int64_t>::max()};
      case holds::site_mode: return {0, recorded_site::both};
      case holds::block_kind: return {0, recorded_block::mapped};
      case holds::touches: return {0, most_touches};
      case holds::place: return {0, below(r_.places.size())};
      case holds::message_kind: return {recorded_message::spawn, recorded_message::done};
      case holds::first_worker:
      case holds::workers: return {0, below(r_.worker_node.size() + 1)};
      case holds::first_node: return {0, most_recorded_nodes - 1};
      case holds::nodes: return {0, most_recorded_nodes};
      case holds::difference: return {-latest, latest};
      case holds::drift: return {-1'000'000'000, 1'000'000'000};
      case holds::counted: return {recorded_counts::not_counted, static_cast<std::int64_t>(recorded_counts::most)};
      case holds::stream:
      case holds::scope_or_future:  // see waits()
      case holds::hint:
      case holds::anything:
      case holds::bits:
      case holds::name: break;
    }
    return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }

  template <class Table, class Rows>
  void cells(const Rows& rows) const {
    std::size_t i = 0;
    for (const auto& row : rows) {
      Table::list(row, [&](const char* column, const auto& value, holds what, int = 1) {
        cell(Table::name, i, column, value, what);
      });
      ++i;
    }
  }
  void cell(const char* table, std::size_t row, const char* column, const std::string& value, holds) const {
    if (value.size() > most_name)
      refuse(table, row,
             std::string(column) + " has " + text(value.size()) + " bytes, expected up to " + text(most_name));
  }
  void cell(const char*, std::size_t, const char*, const std::vector<std::uint8_t>&, holds) const {}
  template <class T>
  void cell(const char* table, std::size_t row, const char* column, T value, holds what) const {
    if (std::same_as<T, bool> || what == holds::bits) return;
    const range can = bounds(what);
    const auto number = static_cast<std::conditional_t<std::same_as<T, bool>, int, T>>(value);
    if (std::cmp_greater(number, can.most) || std::cmp_less(number, can.least))
      refuse(table, row,
             std::string(column) + " is " + text(value) + ", expected " +
                 (can.most < can.least ? "no row: there is nothing that it can name"
                                       : text(can.least) + " to " + text(can.most)));
  }

  void meta() const {
    const std::int64_t nodes = r_.meta_number("nodes", 1);
    if (nodes < 1 || nodes > most_recorded_nodes)
      refuse("meta 'nodes' is " + text(nodes) + ", expected 1 to " + text(most_recorded_nodes));
  }

  void task(std::size_t i) {
    const recorded_task& t = r_.tasks[i];
    const auto wrong = [&](const std::string& what) { refuse("task", i, what); };
    if (t.creator >= static_cast<std::int64_t>(i))
      wrong("creator is " + text(t.creator) + ", expected an earlier task");
    if (t.ended != 0 && t.ended < t.started) wrong("it ends before it starts");  // 0: it did not end
    if (t.completed != 0 && t.completed < t.ended)
      wrong("completed_ns is " + text(t.completed) + ", expected its end, " + text(t.ended) + ", or later");
    if (t.explore_ended != 0 && t.explore_ended < t.explore_started) wrong("its exploration ends before it starts");
    flags(i);
    std::uint64_t used = 0;
    for (std::uint64_t a = r_.first_access[i]; a < r_.first_access[i + 1]; ++a) {
      access(i, a);
      used += r_.accesses[a].bytes + r_.accesses[a].touched;
      if (used > static_cast<std::uint64_t>(most_in_all)) wrong("its accesses have " + text(used) + " bytes in all");
    }
    for (std::uint64_t d = r_.first_dependence[i]; d < r_.first_dependence[i + 1]; ++d) dependence(i, d);
    scopes_ = std::max(scopes_, std::uint64_t{t.scope} + 1);
  }

  static bool is_node(const recorded_task& t) { return t.has(recorded_task::keyed) || t.has(recorded_task::generated); }

  /// Flags say what a replay does with a task, so only combinations that a replay can handle are accepted.
  void flags(std::size_t i) const {
    const recorded_task& t = r_.tasks[i];
    const auto only = [&](unsigned with) { return (t.flags & ~with) == 0; };
    const auto wrong = [&](const char* what) {
      refuse("task", i, "flags are " + text(t.flags) + ", expected " + what);
    };
    if (t.has(recorded_task::root) && !only(recorded_task::root | recorded_task::skipped))
      wrong("a root (1) without other flags than cancelled (16)");
    if (t.has(recorded_task::fence) && !only(recorded_task::fence)) wrong("a fence (64) without other flags");
    if (t.has(recorded_task::discovered) && !is_node(t))
      wrong("flag 8 (found by an exploration) only on a node (2 or 4)");
    if (t.has(recorded_task::listed) && is_node(t)) wrong("flag 32 (may be claimed) never on a node (2 or 4)");
    const bool works = !t.has(recorded_task::root) && !t.has(recorded_task::fence);
    if (!works && r_.first_access[i] != r_.first_access[i + 1]) wrong("a task without accesses");
    if (!t.has(recorded_task::fence)) return;
    // A fence is made while the task before it is created.
    const recorded_task* const asks = i == 0 ? nullptr : &r_.tasks[i - 1];
    if (asks == nullptr || asks->has(recorded_task::root) || is_node(*asks) || asks->scope != t.scope)
      wrong("a fence right after a task of its scope");
  }

  void access(std::size_t i, std::uint64_t a) const {
    const recorded_access& x = r_.accesses[a];
    const std::uint64_t most = r_.regions[x.region].bytes;
    if (x.bytes > most || x.touched > most)
      refuse("access", a,
             text(std::max(x.bytes, x.touched)) + " bytes of region " + text(x.region) + ", which has " + text(most));
    if (static_cast<mode>(x.mode) == mode::commutative && is_node(r_.tasks[i]))
      refuse("access", a, "mode is commutative, which nodes of graphs must not use");
  }

  /// The nodes of a graph are created as they are found from each other, so a node waits only for nodes of its graph.
  void dependence(std::size_t i, std::uint64_t d) const {
    const auto before = static_cast<std::size_t>(r_.dependences[d].before);
    if (before == i) refuse("dependence", d, "task " + text(i) + " waits for itself");
    const recorded_task &t = r_.tasks[i], &b = r_.tasks[before];
    if (b.has(recorded_task::root)) refuse("dependence", d, "before is the root task " + text(before));
    if (is_node(t) && (!is_node(b) || b.scope != t.scope))
      refuse("dependence", d,
             "before is " + text(before) + ", expected a node of the same graph as task " + text(i) + " is one of");
  }

  /// The nodes of a graph run at its place. They either explore to find their predecessors, or have them from the
  /// start.
  void graphs() const {
    std::vector<bool> explored(scopes_);
    for (const recorded_task& t : r_.tasks) {
      if (t.has(recorded_task::keyed)) explored[t.scope] = true;
    }
    for (std::size_t i = 0; i < r_.tasks.size(); ++i) {
      const recorded_task& t = r_.tasks[i];
      if (!is_node(t) || t.of_data_flow()) continue;
      const std::int32_t at = r_.place_of(t.worker);
      const std::int32_t creator_at = t.creator < 0 ? -1 : r_.place_of(r_.task(t.creator).worker);
      if (at >= 0 && creator_at >= 0 && at != creator_at)
        refuse("task", i,
               "it is a node of a graph and ran at place " + text(at) + ", expected place " + text(creator_at) +
                   " of its creator");
      if (!t.has(recorded_task::keyed) && explored[t.scope] && r_.first_dependence[i] != r_.first_dependence[i + 1])
        refuse("task", i,
               "flags are " + text(t.flags) +
                   ", expected that a node with dependences explores (2), as others of its graph do");
    }
  }

  /// A task is completed after its children. 0 stands for a task that is not known to be completed.
  void completions() const {
    const std::vector<std::int32_t> parents = parents_of(r_);
    for (std::size_t i = 0; i < parents.size(); ++i) {
      if (parents[i] < 0) continue;
      const std::uint64_t child = r_.tasks[i].completed;
      const std::uint64_t parent = r_.tasks[static_cast<std::size_t>(parents[i])].completed;
      if (parent != 0 && child > parent)
        refuse("task", i,
               "completed_ns is " + text(child) + ", expected at most " + text(parent) + ", when task " +
                   text(parents[i]) + " was completed, whose child it is");
    }
  }

  void waits() const {
    for (std::size_t i = 0; i < r_.waits.size(); ++i) {
      const recorded_wait& w = r_.waits[i];
      if (w.scope != recorded_wait::for_future && w.scope >= scopes_)
        refuse("wait", i,
               "scope is " + text(w.scope) + ", expected one that has tasks, 0 to " + text(scopes_) + " less 1");
    }
    spells("wait", r_.waits);
  }

  template <class Rows>
  void spells(const char* table, const Rows& rows) const {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].ended < rows[i].begun) refuse(table, i, "it ends before it begins");
    }
  }

  void calibrations() const {
    for (std::size_t i = 0; i < r_.calibrations.size(); ++i) {
      const recorded_calibration& c = r_.calibrations[i];
      if (c.samples == 0 || c.plain_ns == 0 || c.hot_ns == 0)
        refuse("calibration", i, "it measured nothing, expected samples, plain_ns and hot_ns above 0");
      // One sample has 2^size bytes or more, and less than twice as many.
      if (c.bytes >> c.size < c.samples || (c.bytes >> c.size) / 2 >= c.samples)
        refuse("calibration", i,
               "bytes are " + text(c.bytes) + " of " + text(c.samples) + " samples, expected for each 2^" +
                   text(c.size) + " to twice as many");
    }
  }

  void counts() const {
    for (std::size_t i = 1; i < r_.counts.size(); ++i) {
      if (r_.counts[i].task <= r_.counts[i - 1].task)
        refuse("counts", i, "task is " + text(r_.counts[i].task) + ", expected the tasks in order, each once");
    }
  }

  void allocations() const {
    std::uint64_t given = 0, last = 0;
    for (std::size_t i = 0; i < r_.allocations.size(); ++i) {
      const recorded_allocation& a = r_.allocations[i];
      if (a.address > std::numeric_limits<std::uint64_t>::max() - a.bytes) refuse("allocation", i, "it has no end");
      if (a.at < last) refuse("allocation", i, "at_ns is before that of the one before it");
      last = a.at;
      given += a.bytes;
      if (given > static_cast<std::uint64_t>(most_in_all))
        refuse("allocation", i, "with it there are " + text(given) + " bytes in all");
    }
  }

  /// All workers belong to a place, and the places have them in their order.
  void places() const {
    if (r_.places.empty()) return;
    std::uint64_t workers = 0;
    const std::int64_t nodes = r_.meta_number("nodes", 1);
    for (std::size_t p = 0; p < r_.places.size(); ++p) {
      const recorded_place& x = r_.places[p];
      if (x.first_worker != workers)
        refuse("place", p, "first_worker is " + text(x.first_worker) + ", expected " + text(workers));
      workers += x.workers;
      if (std::int64_t{x.first_node} + x.nodes > nodes)
        refuse("place", p,
               "its nodes end at " + text(std::int64_t{x.first_node} + x.nodes) + ", and there are " + text(nodes));
    }
    if (workers != r_.worker_node.size())
      refuse("table place has " + text(workers) + " workers, expected " + text(r_.worker_node.size()) +
             ", the rows of table worker");
    for (std::size_t m = 0; m < r_.messages.size(); ++m) message(m);
  }

  void message(std::size_t m) const {
    const recorded_message& x = r_.messages[m];
    if (x.source == x.destination) refuse("message", m, "place " + text(x.source) + " has sent it to itself");
    if (x.received != 0 && x.received < x.sent) refuse("message", m, "it is received before it was sent");
    const auto belongs = [&](const char* column, std::int32_t task, std::uint16_t place) {
      const std::int32_t at = task < 0 ? -1 : r_.place_of(r_.task(task).worker);
      if (at >= 0 && at != place)
        refuse("message", m,
               std::string(column) + " is task " + text(task) + ", which ran at place " + text(at) +
                   ", expected place " + text(place));
    };
    belongs("spawner", x.spawner, x.source);
    belongs("task", x.task, x.destination);
    if (x.kind == recorded_message::spawn && x.task >= 0 && r_.task(x.task).creator != x.spawner)
      refuse("message", m, "it has made task " + text(x.task) + ", whose creator is not its spawner");
  }

  /// What is in a stream is checked where it is read (analysis/addresses.hpp).
  void addresses() const {
    if (r_.blocks.empty() && r_.sites.empty() && r_.streams.empty()) return;
    if (r_.blocks.size() < 2 || r_.blocks[0].kind != recorded_block::own_stack ||
        r_.blocks[1].kind != recorded_block::unknown)
      refuse("table block begins with other rows than a stack (kind 0) and unknown memory (1)");
    for (std::size_t i = 0; i < r_.blocks.size(); ++i) {
      if (r_.blocks[i].address > std::numeric_limits<std::uint64_t>::max() - r_.blocks[i].bytes)
        refuse("block", i, "it has no end");
    }
    const touch_limit limit(r_);
    std::uint64_t touches = 0;
    for (std::size_t i = 0; i < r_.streams.size(); ++i) {
      touches += r_.streams[i].touches;
      if (touches > limit.lines)
        refuse("stream", i, "with it there are " + text(touches) + " touches in all; expected at most " + limit.text());
    }
  }

  const recording& r_;
  const std::string& file_;
  std::uint64_t scopes_ = 0;  // the largest scope that has a task, plus 1
};

}  // namespace

void check_recording(const recording& r, const std::string& file) { checker(r, file).all(); }

}  // namespace kith
