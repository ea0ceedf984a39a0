#include "engine/sim/program.hpp"

#include "engine/sim/calibrated.hpp"
#include "engine/sim/huge_pages.hpp"
#include "engine/sim/recorded_places.hpp"
#include "recording/found_first.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <set>
#include <tuple>

namespace kith::sim {

namespace {

/// A recorded step of a task, with its times.
struct recorded_action {
  std::int32_t task;
  std::uint64_t begun, ended;
  action what;
  std::size_t order = 0;
};

action of_kind(action::kind what, std::uint64_t value) {
  return {.value = value, .what = static_cast<std::uint64_t>(what)};
}

/// At least 1/10 of a task's measured time is computing, however many bytes it declares.
constexpr std::uint64_t least_share = 10;

/// Throws if the total work, in picoseconds, does not fit 64 bits, because one worker may have to do all of it.
void refuse_too_long(const recording& r) {
  constexpr std::uint64_t most = std::uint64_t{1} << 52;
  std::uint64_t all = 0;
  for (const recorded_task& t : r.tasks) {
    all += t.work_ns;
    if (all > most)
      throw error("the recorded tasks have worked for more than 52 days in all: too long to be simulated",
                  error_kind::input);
  }
}

void split_times(program& p, double core_gbs) {
  const bool dry = p.recorded.meta_or("dry", "0") == "1";
  p.compute.resize(p.tasks());
  p.bytes.resize(p.tasks());
  p.exclusive.resize(p.tasks());
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    for (const recorded_access& a : p.recorded_accesses(t)) {
      p.bytes[t] += a.touched;
      if (static_cast<mode>(a.mode) == mode::commutative) p.exclusive[t] = 1;
    }
    // A dry run measures no task. The time of its roots is the recording machine's time to create tasks, for
    // which the model has its own cost.
    const std::uint64_t whole =
        dry && p.recorded.tasks[t].has(recorded_task::root) ? 0 : p.recorded.tasks[t].work_ns * 1000;
    constexpr double most = 1e18;  // keeps the product within 64 bits; all of the time is memory then
    const auto memory = static_cast<std::uint64_t>(std::min(most, static_cast<double>(p.bytes[t]) * 1000 / core_gbs));
    p.compute[t] = dry ? whole : std::max(whole / least_share, whole - std::min(whole, memory));
  }
  split_calibrated_times(p);
}

/// Gives the tasks that came from outside a root of their own, which creates them at once and waits for them.
std::int32_t gather_outsiders(recording& r) {
  recorded_task root;
  root.flags = recorded_task::root;
  root.created = ~std::uint64_t{0};
  const auto me = static_cast<std::int32_t>(r.tasks.size());
  std::set<std::uint32_t> scopes;
  for (recorded_task& t : r.tasks) {
    if (!t.has(recorded_task::outside) || t.creator >= 0) continue;
    t.creator = me;
    root.created = std::min(root.created, t.created);
    root.ended = std::max(root.ended, t.create_until);
    scopes.insert(t.scope);
  }
  if (scopes.empty()) return -1;
  root.started = root.create_until = root.ready = root.created;
  r.tasks.push_back(root);
  r.first_access.push_back(r.accesses.size());
  r.first_dependence.push_back(r.dependences.size());
  for (std::uint32_t s : scopes) r.waits.push_back({me, s, 0, root.ended, root.ended});
  return me;
}

/// What tasks do besides computing, in the order of (task, time): they create tasks, and wait. Fills in what the
/// program knows of creations: roots, nodes of static graphs, and the nodes that each node names.
class action_list {
 public:
  action_list(program& p, const std::vector<request_step>& of_requests) : p_(p), tasks_(p.recorded.tasks) {
    all_.reserve(tasks_.size() + p.recorded.waits.size() + of_requests.size());
    for (std::size_t i = 0; i < tasks_.size(); ++i) add_creation(i);
    std::ranges::sort(p.roots, {}, [&](std::int32_t t) { return tasks_[static_cast<std::size_t>(t)].started; });
    std::ranges::sort(p.static_graph_nodes);
    for (const recorded_wait& w : p.recorded.waits)
      all_.push_back(
          {w.task, w.begun, w.ended, of_kind(action::wait, w.scope == recorded_wait::for_future ? p.scopes : w.scope)});
    for (const request_step& s : of_requests)
      all_.push_back({s.task, s.begun, s.ended, of_kind(action::ask, 2 * s.request + (s.awaits ? 1 : 0))});
    for (std::size_t i = 0; i < all_.size(); ++i) all_[i].order = i;
    std::ranges::sort(all_, {}, [](const recorded_action& h) { return std::tuple(h.task, h.begun, h.order); });
    add_named();
  }

  /// Turns these into the program's actions, with the computing between them.
  void add_to_program() {
    std::size_t at = 0;
    p_.first_action.push_back(0);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      at = add_actions(i, at);
      p_.first_action.push_back(p_.actions.size());
    }
  }

 private:
  void add_creation(std::size_t i) {
    const recorded_task& t = tasks_[i];
    p_.scopes = std::max(p_.scopes, t.scope + 1);
    const auto me = static_cast<std::int32_t>(i);
    if (t.has(recorded_task::root)) {
      p_.roots.push_back(me);
      if (t.ended == 0)
        throw error("the recorded run did not end: it can be looked at, not replayed; record it again until its end",
                    error_kind::input);
      return;
    }
    if (t.has(recorded_task::fence) || t.has(recorded_task::discovered)) return;
    if (t.creator < 0)
      throw error("the recorded run did not end (task " + std::to_string(i) +
                      " has no creator): it can be looked at, not replayed; record it again until its end",
                  error_kind::input);
    const bool generated = t.has(recorded_task::generated) && !t.of_data_flow();
    if (generated && !t.has(recorded_task::keyed) && !p_.dependences(i).empty()) {
      p_.static_graph_nodes.emplace_back(t.scope, me);
    } else if (generated && tasks_[static_cast<std::size_t>(t.creator)].scope == t.scope) {
      names_.emplace_back(t.creator, me);
    } else {
      all_.push_back({t.creator, t.created, t.create_until, of_kind(action::create, i)});
    }
  }

  void add_named() {
    std::ranges::sort(names_);
    p_.first_named.push_back(0);
    for (std::size_t i = 0, n = 0; i < tasks_.size(); ++i) {
      for (; n < names_.size() && names_[n].first == static_cast<std::int32_t>(i); ++n)
        p_.named.push_back(names_[n].second);
      p_.first_named.push_back(p_.named.size());
    }
  }

  /// Adds those of task i, which begin at `at`; returns where they end.
  std::size_t add_actions(std::size_t i, std::size_t at) {
    const recorded_task& t = tasks_[i];
    const std::uint64_t all_work = t.work_ns * 1000;
    // The gaps between a task's actions are its computing; the share of memory is taken from each gap in proportion.
    const auto compute = [&](std::uint64_t ns) {
      const std::uint64_t ps = all_work == 0 ? 0
                                             : static_cast<std::uint64_t>(static_cast<double>(ns) * 1000 *
                                                                          static_cast<double>(p_.compute[i]) /
                                                                          static_cast<double>(all_work));
      if (ps != 0) p_.actions.push_back(of_kind(action::compute, ps));
    };
    const bool leaf = at == all_.size() || all_[at].task != static_cast<std::int32_t>(i);
    if (leaf) {
      if (!t.has(recorded_task::fence)) p_.actions.push_back(of_kind(action::compute, p_.compute[i]));
      return at;
    }
    std::uint64_t now = t.started;
    for (; at < all_.size() && all_[at].task == static_cast<std::int32_t>(i); ++at) {
      if (all_[at].begun > now) compute(all_[at].begun - now);
      p_.actions.push_back(all_[at].what);
      now = std::max(now, all_[at].ended);
    }
    if (t.ended > now) compute(t.ended - now);
    return at;
  }

  program& p_;
  const std::vector<recorded_task>& tasks_;
  std::vector<recorded_action> all_;
  std::vector<std::pair<std::int32_t, std::int32_t>> names_;  // the naming node, the named node
};

/// Describes the only member of a program that is not a combination of several.
void describe_whole(program& p) {
  program::member& whole = p.members.front();
  const std::vector<recorded_task>& tasks = p.recorded.tasks;
  whole.end_task = tasks.size();
  whole.end_root = p.roots.size();
  whole.end_allocation = p.recorded.allocations.size();
  whole.nodes = static_cast<std::int32_t>(std::clamp<std::int64_t>(p.recorded.meta_number("nodes", 1), 1, 1 << 20));
  whole.workers = static_cast<std::int32_t>(p.recorded.worker_node.size());
  if (p.recorded.marks.empty()) return;
  const std::uint64_t from = p.recorded.marks.back().at;
  while (whole.measured_from + 1 < p.roots.size() &&
         tasks[static_cast<std::size_t>(p.roots[whole.measured_from])].started < from)
    ++whole.measured_from;
}

}  // namespace

program program_of(recording r, double core_gbs) {
  program p;
  prepared_places prepared = prepare_places(r);
  p.requests = std::move(prepared.requests);
  p.members.emplace_back().outside_root = gather_outsiders(r);
  p.recorded = std::move(r);
  action_list actions(p, prepared.steps);
  for (const auto& found : times_found_first(p.recorded)) p.found_first.push_back(found ? 1 : 0);
  p.found_first.resize(p.scopes);
  refuse_too_long(p.recorded);
  split_times(p, core_gbs);
  actions.add_to_program();
  if (p.roots.empty())
    throw error("the recording has no run in it; expected one of a program that calls runtime::run() or submits tasks",
                error_kind::input);
  describe_whole(p);
  add_places(p);
  keep_for_runs(p);
  return p;
}

void keep_for_runs(program& p) {
  const std::vector<recorded_access>& all = p.recorded.accesses;
  reserve_huge_pages(p.accesses, all.size());
  for (const recorded_access& a : all)
    p.accesses.push_back({{a.region + 1, a.bytes, static_cast<mode>(a.mode)},
                          static_cast<std::uint32_t>(std::min<std::uint64_t>(a.touched, program::access::many))});
  if (std::ranges::any_of(all, [](const recorded_access& a) { return a.passed_by >= 0; }))
    for (const recorded_access& a : all) p.passed_by.push_back(a.passed_by);
  reserve_huge_pages(p.predecessors, p.recorded.dependences.size());
  for (const recorded_dependence& d : p.recorded.dependences) p.predecessors.push_back(d.before);
  p.records = records_of(p);
}

}  // namespace kith::sim
