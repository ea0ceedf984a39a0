#include "replay/levels.hpp"

#include "recording/found_first.hpp"

#include <algorithm>
#include <unordered_map>

namespace kith {

namespace {

enum point : std::uint32_t { explores, begins, ends, points };

std::uint32_t point_of(std::size_t task, point p) { return static_cast<std::uint32_t>(task) * points + p; }

/// Calls `edge(from, to)` for each order of two points that the program requires, and from each task to the next one of
/// the same creator. The latter order is consistent with all others, and stands for the creator's waits in between. A
/// root comes after the root before it. Where all nodes of a graph are found before any computes (`found`, by scope),
/// that moment is a point, numbered after all others.
template <class Edge>
void for_each_edge(const recording& r, const std::vector<std::optional<std::uint64_t>>& found, Edge&& edge) {
  std::unordered_map<std::uint32_t, std::size_t> waiter;  // by scope
  for (const recorded_wait& w : r.waits) {
    if (w.scope != recorded_wait::for_future) waiter[w.scope] = static_cast<std::size_t>(w.task);
  }
  std::vector<std::int32_t> elder(r.tasks.size(), -1);  // by creator: the last task created so far
  std::int32_t last_root = -1;
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    const recorded_task& x = r.tasks[t];
    const bool of_graph = x.has(recorded_task::keyed) || x.has(recorded_task::generated);
    if (x.creator >= 0 && !of_graph && !x.has(recorded_task::fence) && !x.has(recorded_task::outside)) {
      std::int32_t& before = elder[static_cast<std::size_t>(x.creator)];
      if (before >= 0) edge(point_of(static_cast<std::size_t>(before), ends), point_of(t, begins));
      before = static_cast<std::int32_t>(t);
    }
    if (x.has(recorded_task::root)) {
      if (last_root >= 0) edge(point_of(static_cast<std::size_t>(last_root), ends), point_of(t, begins));
      last_root = static_cast<std::int32_t>(t);
    }
    const bool keyed = x.has(recorded_task::keyed);
    if (x.creator >= 0 && !x.has(recorded_task::outside))
      edge(point_of(static_cast<std::size_t>(x.creator), x.has(recorded_task::discovered) ? explores : begins),
           point_of(t, keyed ? explores : begins));
    if (keyed) edge(point_of(t, explores), point_of(t, begins));
    if (keyed && x.scope < found.size() && found[x.scope]) {
      const std::uint32_t all_found = point_of(r.tasks.size(), explores) + x.scope;
      edge(point_of(t, explores), all_found);
      edge(all_found, point_of(t, begins));
    }
    edge(point_of(t, begins), point_of(t, ends));
    for (std::uint64_t d = r.first_dependence[t]; d < r.first_dependence[t + 1]; ++d)
      edge(point_of(static_cast<std::size_t>(r.dependences[d].before), ends), point_of(t, begins));
    if (const auto waiting = waiter.find(x.scope); waiting != waiter.end()) {
      edge(point_of(t, ends), point_of(waiting->second, ends));
    } else if (x.creator >= 0 && !of_graph && !x.has(recorded_task::outside)) {  // a task ends after its children
      edge(point_of(t, ends), point_of(static_cast<std::size_t>(x.creator), ends));
    }
  }
}

}  // namespace

task_levels levels_of(const recording& r) {
  const auto found_first = times_found_first(r);
  const std::size_t all = r.tasks.size() * points + found_first.size();
  std::vector<std::uint64_t> first(all + 1);  // followers[first[p]] up to followers[first[p + 1]]
  std::vector<std::uint32_t> missing(all), level(all);
  for_each_edge(r, found_first, [&](std::uint32_t from, std::uint32_t to) {
    ++first[from + 1];
    ++missing[to];
  });
  for (std::size_t p = 0; p < all; ++p) first[p + 1] += first[p];
  std::vector<std::uint32_t> followers(first.back());
  std::vector<std::uint64_t> next(first.begin(), first.end() - 1);
  for_each_edge(r, found_first, [&](std::uint32_t from, std::uint32_t to) { followers[next[from]++] = to; });

  std::vector<std::uint32_t> open;
  for (std::uint32_t p = 0; p < all; ++p) {
    if (missing[p] == 0) open.push_back(p);
  }
  while (!open.empty()) {
    const std::uint32_t p = open.back();
    open.pop_back();
    for (std::uint64_t f = first[p]; f < first[p + 1]; ++f) {
      const std::uint32_t to = followers[f];
      level[to] = std::max(level[to], level[p] + 1);
      if (--missing[to] == 0) open.push_back(to);
    }
  }
  task_levels found;
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    const auto level_at = [&](point p) { return missing[point_of(t, p)] == 0 ? level[point_of(t, p)] : 0; };
    found.exploration.push_back(level_at(explores));
    found.beginning.push_back(level_at(begins));
  }
  return found;
}

}  // namespace kith
