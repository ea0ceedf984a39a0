#include "engine/sim/combine.hpp"

#include "base/round_up.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace kith::sim {

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20, gib = std::uint64_t{1} << 30;
constexpr std::uint64_t most_address = std::uint64_t{1} << 62;

[[noreturn]] void refuse_size(const std::string& what) {
  throw error("the recordings are too large to be simulated together: " + what + "; record smaller runs",
              error_kind::input);
}

/// The end of the highest memory that the program names.
std::uint64_t end_of_memory(const program& p) {
  std::uint64_t end = 0;
  const auto add = [&](std::uint64_t address, std::uint64_t bytes) {
    if (address > most_address || bytes > most_address) refuse_size("a region ends above 2^62");
    end = std::max(end, address + bytes);
  };
  for (const recorded_region& r : p.recorded.regions) add(r.address, r.bytes);
  for (const recorded_allocation& a : p.recorded.allocations) add(a.address, a.bytes);
  for (const line_streams::page& k : p.lines.pages) add(k.address, line_streams::page_bytes);
  return end;
}
/// The end of the times that decide which memory was allocated again.
std::uint64_t end_of_times(const recording& r) {
  std::uint64_t end = 0;
  for (const recorded_task& t : r.tasks) end = std::max(end, t.created);
  for (const recorded_allocation& a : r.allocations) end = std::max({end, a.at, a.released});
  return end + 1;
}

/// Adds one program after the other.
class combination {
 public:
  /// Returns the program of all that were added. Ends the tables that have one more row than there are tasks.
  program take() {
    out_.recorded.first_access.push_back(out_.recorded.accesses.size());
    out_.recorded.first_dependence.push_back(out_.recorded.dependences.size());
    out_.first_action.push_back(out_.actions.size());
    out_.first_named.push_back(out_.named.size());
    keep_for_runs(out_);
    for (action& a : out_.actions) {
      if (a.what == action::wait && a.value == future) a.value = out_.scopes;
    }
    return std::move(out_);
  }

  void add(const program& p) {
    tasks_ = static_cast<std::int32_t>(out_.tasks());
    const std::uint64_t all_tasks = out_.tasks() + p.tasks();
    if (all_tasks > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
      refuse_size(std::to_string(all_tasks) + " tasks");
    add_recorded(p);
    add_actions(p);
    add_lines(p);
    const program::member& member = p.members.front();
    const std::size_t roots = out_.roots.size();
    for (const std::int32_t r : p.roots) out_.roots.push_back(r + tasks_);
    for (const auto& [scope, node] : p.static_graph_nodes)
      out_.static_graph_nodes.emplace_back(scope + out_.scopes, node + tasks_);
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(out_.compute, p.compute);
    append(out_.bytes, p.bytes);
    append(out_.exclusive, p.exclusive);
    append(out_.found_first, p.found_first);
    out_.exposure.resize(static_cast<std::size_t>(tasks_));  // uncalibrated
    append(out_.exposure, p.exposure);
    out_.exposure.resize(out_.tasks());
    out_.scopes += p.scopes;
    out_.members.push_back({.first_task = static_cast<std::size_t>(tasks_),
                            .end_task = out_.tasks(),
                            .first_root = roots,
                            .end_root = out_.roots.size(),
                            .measured_from = roots + member.measured_from,
                            .end_allocation = out_.recorded.allocations.size(),
                            .nodes = member.nodes,
                            .workers = member.workers,
                            .outside_root = member.outside_root < 0 ? -1 : member.outside_root + tasks_});
  }

 private:
  std::int32_t shifted(std::int32_t task) const { return task < 0 ? task : task + tasks_; }

  void add_recorded(const program& p) {
    const recording& from = p.recorded;
    recording& to = out_.recorded;
    const std::uint64_t times = out_.members.empty() ? 0 : end_of_times(to);
    memory_ = out_.members.empty() ? 0 : round_up(end_of_memory(out_), gib);
    if (end_of_memory(p) > most_address - memory_) refuse_size("their memory ends above 2^62");
    const std::size_t types = to.types.size(), all_regions = to.regions.size() + from.regions.size();
    if (types + from.types.size() > std::size_t{1} << 16)
      refuse_size(std::to_string(types + from.types.size()) + " types of tasks");
    if (all_regions >= std::numeric_limits<std::uint32_t>::max()) refuse_size(std::to_string(all_regions) + " regions");
    const auto regions = static_cast<std::uint32_t>(to.regions.size());
    to.types.insert(to.types.end(), from.types.begin(), from.types.end());
    for (recorded_region r : from.regions) {
      r.address += memory_;
      to.regions.push_back(r);
    }
    for (recorded_allocation a : from.allocations) {
      a.address += memory_;
      a.at += times;
      if (a.released != 0) a.released += times;
      to.allocations.push_back(a);
    }
    for (std::size_t t = 0; t < from.tasks.size(); ++t) {
      recorded_task& k = to.tasks.emplace_back(from.tasks[t]);
      k.creator = shifted(k.creator);
      k.type = static_cast<std::uint16_t>(k.type + types);
      k.scope += out_.scopes;
      k.created += times;
      to.first_access.push_back(to.accesses.size());
      to.first_dependence.push_back(to.dependences.size());
      for (recorded_access a : p.recorded_accesses(t)) {
        a.region += regions;
        a.passed_by = shifted(a.passed_by);
        to.accesses.push_back(a);
      }
      for (recorded_dependence d : p.dependences(t)) {
        d.before = shifted(d.before);
        to.dependences.push_back(d);
      }
    }
  }

  void add_actions(const program& p) {
    const auto none = static_cast<std::uint64_t>(p.scopes);  // a wait for a future names it in place of a scope
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      out_.first_action.push_back(out_.actions.size());
      for (std::uint64_t i = p.first_action[t]; i < p.first_action[t + 1]; ++i) {
        action a = p.actions[i];
        if (a.what == action::create) a.value += static_cast<std::uint64_t>(tasks_);
        if (a.what == action::wait) a.value = a.value == none ? future : a.value + out_.scopes;
        out_.actions.push_back(a);
      }
      out_.first_named.push_back(out_.named.size());
      for (std::uint64_t i = p.first_named[t]; i < p.first_named[t + 1]; ++i) out_.named.push_back(p.named[i] + tasks_);
    }
  }

  void add_lines(const program& p) {
    const line_streams& from = p.lines;
    line_streams& to = out_.lines;
    if (!out_.members.empty() && (from.first.empty() != to.first.empty() || from.bytes != to.bytes))
      throw error(
          "programs whose touched lines are known cannot be simulated together with others, or with lines of "
          "another size; make all for one machine and fidelity",
          error_kind::input);
    if (from.first.empty()) return;
    const std::uint64_t in_mib = mib / from.bytes;
    const std::uint64_t shared = from.shared == 0 ? to.shared : round_up(to.shared, in_mib);
    const std::uint64_t all = shared + from.shared + to.own + from.own;
    if (all > most_lines) refuse_size("their memory has " + std::to_string(all) + " lines, more than 2^30");
    // A core's own memory begins after the shared memory of all.
    const auto moved = static_cast<std::uint32_t>(shared + from.shared - to.shared);
    for (line_touches& row : to.rows) {
      if (row.line >= to.shared) row.line = (row.line + moved) & 0x7fffffff;
    }
    to.bytes = from.bytes;
    const std::size_t rows = to.rows.size();
    const auto own = static_cast<std::uint32_t>(shared + to.own);
    for (line_touches row : from.rows) {
      row.line = (row.line + (row.line < from.shared ? static_cast<std::uint32_t>(shared) : own)) & 0x7fffffff;
      to.rows.push_back(row);
    }
    to.first.resize(static_cast<std::size_t>(tasks_));
    for (std::size_t t = 0; t + 1 < from.first.size(); ++t) to.first.push_back(rows + from.first[t]);
    to.first.push_back(to.rows.size());
    for (const line_streams::page& k : from.pages)
      to.pages.push_back({k.address + memory_, k.first + static_cast<std::uint32_t>(shared)});
    to.stack_depth.insert(to.stack_depth.end(), from.stack_depth.begin(), from.stack_depth.end());
    if (!to.instructions.empty() || !from.instructions.empty()) {
      to.instructions.resize(static_cast<std::size_t>(tasks_), -1);
      to.instructions.insert(to.instructions.end(), from.instructions.begin(), from.instructions.end());
      to.instructions.resize(out_.tasks(), -1);
    }
    to.stacks.push_back({to.own + from.stacks.front().first, from.stacks.front().size});
    to.shared = static_cast<std::uint32_t>(shared) + from.shared;
    to.own += from.own;
  }

  static constexpr std::uint64_t future = (std::uint64_t{1} << 62) - 1;
  program out_;
  std::int32_t tasks_ = 0;    // of the members before the one that is added
  std::uint64_t memory_ = 0;  // where its memory begins
};

}  // namespace

program combine(const std::vector<program>& all) {
  combination c;
  for (const program& p : all) c.add(p);
  return c.take();
}

}  // namespace kith::sim
