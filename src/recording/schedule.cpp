#include "recording/schedule.hpp"

#include "base/identity.hpp"
#include "recording/levels.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace kith {

std::vector<std::uint64_t> identities_of(const recording& r) {
  std::vector<identity::creator> creators(r.tasks.size());
  identity::creator outside;
  std::unordered_map<std::uint32_t, std::uint64_t> graphs;  // by scope
  std::uint64_t roots = 0;
  std::vector<std::uint64_t> all(r.tasks.size());
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const recorded_task& t = r.tasks[i];
    identity::creator& by =
        t.has(recorded_task::outside) || t.creator < 0 ? outside : creators[static_cast<std::size_t>(t.creator)];
    if (t.has(recorded_task::fence)) continue;
    if (t.has(recorded_task::root)) {
      all[i] = identity::of_root(++roots);
    } else if (t.has(recorded_task::keyed) || t.has(recorded_task::generated)) {
      const auto [graph, first] = graphs.try_emplace(t.scope);
      if (first) graph->second = by.next_graph();  // whoever explores makes the first node
      all[i] = identity::of_node(graph->second, t.key);
    } else {
      all[i] = by.next_child();
    }
    creators[i].self = all[i];
  }
  return all;
}

namespace {

/// Who had the next turn at each region. They excluded each other: the order of their beginnings is the order.
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

/// Something that a task did, and when that task had begun: by worker, in order.
struct deed {
  std::uint64_t at, doer_began;
  auto operator<=>(const deed&) const = default;
};
using deeds = std::vector<std::vector<deed>>;

/// The creations of tasks. Not of nodes of graphs: others may find them.
deeds creations_of(const recording& r) {
  deeds by(r.worker_node.size());
  for (const recorded_task& t : r.tasks) {
    if (t.creator < 0 || t.has(recorded_task::outside) || t.has(recorded_task::fence) || t.has(recorded_task::root) ||
        t.has(recorded_task::keyed) || t.has(recorded_task::generated))
      continue;
    const recorded_task& creator = r.tasks[static_cast<std::size_t>(t.creator)];
    const auto w = static_cast<std::size_t>(creator.worker);
    if (w < by.size()) by[w].push_back({t.create_until, creator.started});
  }
  for (std::vector<deed>& all : by) std::ranges::sort(all);
  return by;
}

/// The waits for tasks. Not those for a future: if it was there, nobody waited.
deeds waits_of(const recording& r) {
  deeds by(r.worker_node.size());
  for (const recorded_wait& x : r.waits) {
    const auto w = static_cast<std::size_t>(x.worker);
    if (x.scope != recorded_wait::for_future && w < by.size())
      by[w].push_back({x.begun, r.tasks[static_cast<std::size_t>(x.task)].started});
  }
  for (std::vector<deed>& all : by) std::ranges::sort(all);
  return by;
}

/// Those that came before a task which started then. Of the same moment are those of who had begun before; of which all may
/// be later if the task took no time.
std::uint64_t count_before(const std::vector<deed>& all, std::uint64_t started, std::uint64_t ended) {
  const deed first_of_moment{started, ended > started ? started : 0};
  return static_cast<std::uint64_t>(std::ranges::lower_bound(all, first_of_moment) - all.begin());
}

}  // namespace

recorded_schedule schedule_of(const recording& r) {
  recorded_schedule s;
  const std::vector<std::uint64_t> names = identities_of(r);
  std::unordered_map<std::uint64_t, std::int32_t> known;
  struct spell {
    std::int32_t worker;
    std::uint64_t started, ended;
    recorded_schedule::step what;
  };
  std::vector<spell> spells;
  const std::size_t workers = r.worker_node.size();
  const auto describe = [&](std::int32_t t) {
    return "task " + std::to_string(t) + " (" + r.types[r.tasks[static_cast<std::size_t>(t)].type] + ")";
  };
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const recorded_task& t = r.tasks[i];
    s.type.push_back(r.types[t.type]);
    if (t.has(recorded_task::root) || t.has(recorded_task::fence)) continue;
    const auto me = static_cast<std::int32_t>(i);
    if (t.has(recorded_task::outside)) s.outside = true;
    const auto [other, fresh] = known.try_emplace(names[i], me);
    if (!fresh)
      throw error("no schedule: " + describe(me) + " and " + describe(other->second) + " have the same key hash");
    const auto runs_on = [&](int w) { return w >= 0 && static_cast<std::size_t>(w) < workers; };
    if (!runs_on(t.worker) || (t.has(recorded_task::keyed) && !runs_on(t.explorer)))
      throw error("no schedule: " + describe(me) + " was not run by a worker of the recording; the run did not end");
    // A node that was cancelled while it explored has one phase.
    if (t.has(recorded_task::keyed) && !(t.has(recorded_task::skipped) && t.explore_started == t.started))
      spells.push_back({t.explorer, t.explore_started, t.explore_ended, {names[i], true, me, t.explore_started}});
    spells.push_back({t.worker, t.started, t.ended, {names[i], false, me, t.started}});
  }
  // Of two that began at once the one that the other may have waited for is around it, or before it.
  const task_levels levels = levels_of(r);
  std::ranges::sort(spells, {}, [&](const spell& x) {
    const auto t = static_cast<std::size_t>(x.what.task);
    return std::tuple(x.worker, x.started, x.what.explores ? levels.exploration[t] : levels.beginning[t], t);
  });
  s.of_worker.resize(workers);
  const deeds creations = creations_of(r), waits = waits_of(r);
  std::vector<const spell*> open;  // those that the worker had begun and not ended
  std::uint64_t ended = 0;
  for (std::size_t i = 0; i < spells.size(); ++i) {
    const spell& x = spells[i];
    if (i == 0 || spells[i - 1].worker != x.worker) {
      open.clear();
      ended = 0;
    }
    // What ends when another begins was before it. Clocks are coarse: what takes no time may have been inside it, and need
    // not wait for its end.
    std::erase_if(open, [&](const spell* before) {
      if (before->ended > x.started || (before->ended == x.started && x.ended == x.started)) return false;
      ended += before->what.explores ? 0 : 1;
      return true;
    });
    const auto w = static_cast<std::size_t>(x.worker);
    s.of_worker[w].push_back(x.what);
    s.of_worker[w].back().ended_before = ended;
    s.of_worker[w].back().created_before = count_before(creations[w], x.started, x.ended);
    s.of_worker[w].back().waits_before = count_before(waits[w], x.started, x.ended);
    open.push_back(&x);
  }
  s.turns = turns_of(r, levels);
  return s;
}

}  // namespace kith
