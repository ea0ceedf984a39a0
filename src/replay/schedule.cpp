#include "replay/schedule.hpp"

#include "base/identity.hpp"
#include "base/printable.hpp"
#include "recording/file.hpp"
#include "replay/levels.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace kith {

std::vector<std::uint64_t> identities_of(const recording& r) {
  std::vector<identity::naming_state> creators(r.tasks.size());
  identity::naming_state outside;
  std::unordered_map<std::uint32_t, std::uint64_t> graphs;  // by scope
  std::uint64_t roots = 0;
  std::vector<std::uint64_t> all(r.tasks.size());
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const recorded_task& t = r.tasks[i];
    identity::naming_state& creator =
        t.has(recorded_task::outside) || t.creator < 0 ? outside : creators[static_cast<std::size_t>(t.creator)];
    if (t.has(recorded_task::fence)) continue;
    if (t.has(recorded_task::root)) {
      all[i] = identity::of_root(++roots);
    } else if (t.has(recorded_task::keyed) || t.has(recorded_task::generated)) {
      const auto [graph, first] = graphs.try_emplace(t.scope);
      if (first) graph->second = creator.next_graph();  // the task that explores creates the first node
      all[i] = identity::of_node(graph->second, t.key);
    } else {
      all[i] = creator.next_child();
    }
    creators[i].self = all[i];
  }
  return all;
}

namespace {

/// Pairs of tasks that had turns at a region one after the other. These tasks excluded each other, so the order
/// in which they began is the order of their turns.
std::vector<std::pair<std::int32_t, std::int32_t>> turns_of(const recording& r, const task_levels& levels) {
  struct turn {
    std::uint32_t scope, region;
    std::uint64_t started;
    std::uint32_t level;
    std::int32_t task;
  };
  std::vector<turn> all;
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    for (std::uint64_t a = r.first_access[i]; a < r.first_access[i + 1]; ++a) {
      if (static_cast<mode>(r.accesses[a].mode) == mode::commutative)
        all.push_back({r.tasks[i].scope, r.accesses[a].region, r.tasks[i].started, levels.beginning[i],
                       static_cast<std::int32_t>(i)});
    }
  }
  std::ranges::sort(all, {}, [](const turn& t) { return std::tuple(t.scope, t.region, t.started, t.level, t.task); });
  std::vector<std::pair<std::int32_t, std::int32_t>> next;
  for (std::size_t i = 1; i < all.size(); ++i) {
    const turn &before = all[i - 1], &after = all[i];
    if (before.scope == after.scope && before.region == after.region && before.task != after.task)
      next.emplace_back(before.task, after.task);
  }
  return next;
}

/// Something that a task did, and when. Sorted by both.
struct creator_event {
  std::int32_t doer;
  std::uint64_t at;
  auto operator<=>(const creator_event&) const = default;
};

/// The creations of tasks. Nodes of graphs are left out, because another task may find them in another run.
std::vector<creator_event> creations_of(const recording& r) {
  std::vector<creator_event> all;
  for (const recorded_task& t : r.tasks) {
    if (t.creator < 0 || t.has(recorded_task::outside) || t.has(recorded_task::fence) || t.has(recorded_task::root) ||
        t.has(recorded_task::keyed) || t.has(recorded_task::generated))
      continue;
    all.push_back({t.creator, t.create_until});
  }
  std::ranges::sort(all);
  return all;
}

/// The waits for tasks. Waits for a future are left out: if it had its value, there was no wait.
std::vector<creator_event> waits_of(const recording& r) {
  std::vector<creator_event> all;
  for (const recorded_wait& x : r.waits) {
    if (x.scope != recorded_wait::for_future) all.push_back({x.task, x.begun});
  }
  std::ranges::sort(all);
  return all;
}

/// The number of events of `doer` before `end`.
std::uint64_t count_before(const std::vector<creator_event>& all, std::int32_t doer, std::uint64_t end) {
  return static_cast<std::uint64_t>(std::ranges::lower_bound(all, creator_event{doer, end}) -
                                    std::ranges::lower_bound(all, creator_event{doer, 0}));
}

/// A task, a root, or the first phase of a keyed node on one worker, from begin to end.
struct execution {
  std::int32_t worker;
  std::uint64_t started, ended;
  recorded_schedule::step what;
  bool of_root = false;
  std::int64_t position = -1;  // of the step
};

/// The executions that a worker has begun and not ended. They must be added in the order in which they began.
class nesting {
 public:
  explicit nesting(const recording& r) : creations_(creations_of(r)), waits_(waits_of(r)) {}

  /// Adds the next execution: of the same worker as the last one, or of a worker that had none before.
  void begin(execution& x) {
    if (!open_.empty() && open_.back()->worker != x.worker) open_.clear();
    std::erase_if(open_, [&](const execution* before) { return was_over(*before, x); });
    x.what.inside = identity::outside;
    if (!open_.empty()) {
      const execution& around = *open_.back();
      x.what.inside = around.what.identity;
      x.what.inside_at = around.position;
      // Ties: what `around` did at `started` counts only if `around` itself began earlier. If x took no time, nothing
      // at that moment counts.
      const std::uint64_t end = x.started + (around.started < x.started && x.started < x.ended ? 1 : 0);
      x.what.created_before = count_before(creations_, around.what.task, end);
      x.what.waits_before = count_before(waits_, around.what.task, end);
    }
    open_.push_back(&x);
  }

 private:
  /// True if x was over when `next` began. One that ends when another begins was over before it. But clocks are
  /// coarse: a `next` that took no time may have been inside an x that created tasks or waited. It counts as
  /// inside, so that it need not wait for x to end.
  bool was_over(const execution& x, const execution& next) const {
    if (x.ended != next.started) return x.ended < next.started;
    const std::uint64_t ever = x.ended + 1;
    return next.ended > next.started ||
           count_before(creations_, x.what.task, ever) + count_before(waits_, x.what.task, ever) == 0;
  }

  std::vector<creator_event> creations_, waits_;
  std::vector<const execution*> open_;  // in the order in which they began
};

}  // namespace

recorded_schedule schedule_of(const recording& r) {
  recorded_schedule s;
  const std::vector<std::uint64_t> names = identities_of(r);
  std::unordered_map<std::uint64_t, std::int32_t> known;
  std::vector<execution> executions;
  const std::size_t workers = r.worker_node.size();
  const auto describe = [&](std::int32_t t) {
    return "task " + std::to_string(t) + " (" + printable(r.types[r.tasks[static_cast<std::size_t>(t)].type]) + ")";
  };
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const recorded_task& t = r.tasks[i];
    s.type.push_back(printable(r.types[t.type]));
    if (t.has(recorded_task::fence)) continue;
    const auto me = static_cast<std::int32_t>(i);
    const auto runs_on = [&](int w) { return w >= 0 && static_cast<std::size_t>(w) < workers; };
    if (t.has(recorded_task::root)) {
      if (runs_on(t.worker))
        executions.push_back(
            {t.worker, t.started, t.ended, {.identity = names[i], .task = me, .started = t.started}, true});
      continue;
    }
    if (t.has(recorded_task::outside)) s.outside = true;
    const auto [other, fresh] = known.try_emplace(names[i], me);
    if (!fresh)
      throw error("no schedule: " + describe(me) + " and " + describe(other->second) + " have the same key hash",
                  error_kind::setting);
    if (!runs_on(t.worker) || (t.has(recorded_task::keyed) && !runs_on(t.explorer)))
      throw error("no schedule: " + describe(me) + " was not run by a worker of the recording; the run did not end",
                  error_kind::setting);
    // A node that was cancelled while it explored has only one phase.
    if (t.has(recorded_task::keyed) && !(t.has(recorded_task::skipped) && t.explore_started == t.started))
      executions.push_back({t.explorer,
                            t.explore_started,
                            t.explore_ended,
                            {.identity = names[i], .explores = true, .task = me, .started = t.explore_started}});
    executions.push_back({t.worker, t.started, t.ended, {.identity = names[i], .task = me, .started = t.started}});
  }
  // Of two that began at the same time, the one that the other may have waited for comes first: it encloses the other,
  // or preceded it.
  const task_levels levels = levels_of(r);
  std::ranges::sort(executions, {}, [&](const execution& x) {
    const auto t = static_cast<std::size_t>(x.what.task);
    return std::tuple(x.worker, x.started, x.what.explores ? levels.exploration[t] : levels.beginning[t], t);
  });
  s.of_worker.resize(workers);
  nesting nested(r);
  for (execution& x : executions) {
    std::vector<recorded_schedule::step>& steps = s.of_worker[static_cast<std::size_t>(x.worker)];
    if (!x.of_root) x.position = static_cast<std::int64_t>(steps.size());
    nested.begin(x);
    if (!x.of_root) steps.push_back(x.what);
  }
  s.turns = turns_of(r, levels);
  return s;
}

recorded_schedule schedule_in(const std::string& file) {
  if (file.empty())
    throw error("policy 'replay': file=RECORDING is missing: the run whose schedule is to be followed",
                error_kind::setting);
  return schedule_of(read_recording(file));
}

}  // namespace kith
