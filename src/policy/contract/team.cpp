#include "policy/contract/team.hpp"

#include "base/invariant.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace kith {

team::team(const machine& on, std::vector<node_id> node_of, std::span<const core_id> cores)
    : on_(on), node_of_(std::move(node_of)), at_node_(on.nodes.size()), everybody_(worker_set::all(size())) {
  KITH_INVARIANT(!node_of_.empty(), "a team has workers");
  KITH_INVARIANT(cores.empty() || cores.size() == node_of_.size(), "each worker has a core");
  const std::vector<int> last = on.last_caches();
  std::vector<int> only_cache;  // by node: the cache of all its cores; -1 if there are several, or it is not known
  for (const machine::node& n : on.nodes) {
    const int first = n.cores.empty() ? -1 : last[n.cores.front().index()];
    first_cache_.push_back(first);
    only_cache.push_back(std::ranges::all_of(n.cores, [&](core_id c) { return last[c.index()] == first; }) ? first
                                                                                                           : -1);
  }
  for (std::size_t w = 0; w < node_of_.size(); ++w)
    cache_of_.push_back(cores.empty() ? only_cache[node_of_[w].index()] : last[cores[w].index()]);
  for (int w = 0; w < size(); ++w) at_node_[node_of_[static_cast<std::size_t>(w)].index()].emplace_back(w);
  for (int n = 0; n < nodes(); ++n) {
    if (!at_node_[static_cast<std::size_t>(n)].empty()) inhabited_.emplace_back(n);
  }
  // The first of nodes_by_distance(), without sorting the others: a cluster has as many teams as places.
  const auto nearest_inhabited = [&](node_id n) {
    if (!at_node_[n.index()].empty()) return n;
    return *std::ranges::min_element(inhabited_, {}, [&](node_id m) { return std::pair(distance(n, m), m); });
  };
  for (int n = 0; n < nodes(); ++n) {
    // A worker on a node without memory belongs to the node that its memory comes from.
    served_by_.push_back(nearest_inhabited(on.nearest_node_with_memory(node_id(n))));
    worker_set set;
    for (worker_id w : at_node_[served_by_.back().index()]) set.insert(w);
    serving_.push_back(std::move(set));
  }
}

std::vector<node_id> team::nodes_by_distance(node_id n) const {
  std::vector<node_id> found = on_.nearest_nodes(n);
  std::erase_if(found, [this](node_id m) { return at_node_[m.index()].empty(); });
  return found;
}

std::vector<worker_id> team::victims(worker_id thief, victim_order order) const {
  std::vector<worker_id> found;
  for (int k = 1; k < size(); ++k) found.emplace_back((thief.value + k) % size());
  if (order == victim_order::nearest || order == victim_order::caches) {
    const bool by_cache = order == victim_order::caches;
    std::ranges::sort(found, {}, [&](worker_id v) {
      return std::tuple(distance(node_of(thief), node_of(v)), by_cache && cache_of(v) != cache_of(thief),
                        (v.value - thief.value + size()) % size());
    });
  }
  if (order == victim_order::nodes) {
    const node_id home = node_of(thief);
    std::ranges::sort(found, {}, [&](worker_id v) {
      const node_id there = node_of(v);
      const int turn = there == home ? (v.value - thief.value + size()) % size() : v.value;
      return std::tuple(distance(home, there), there != home, there, turn);
    });
  }
  return found;
}

int team::hops(node_id a, node_id b) const {
  const std::vector<int>& row = on_.distances[a.index()];
  std::set<int> nearer;
  for (int d : row) {
    if (d < row[b.index()]) nearer.insert(d);
  }
  return static_cast<int>(nearer.size());
}

std::vector<std::vector<node_id>> team::machines() const {
  std::vector<std::vector<node_id>> all;
  std::vector<node_id> left = inhabited_;
  while (!left.empty()) {
    std::vector<node_id> others;
    all.emplace_back();
    for (node_id n : left) (distance(left.front(), n) <= farthest ? all.back() : others).push_back(n);
    left = std::move(others);
  }
  return all;
}

std::uint64_t team::cache_share(node_id n) const {
  if (first_cache_[n.index()] < 0) return 0;
  const machine::cache& c = on_.caches[static_cast<std::size_t>(first_cache_[n.index()])];
  return c.bytes / c.cores.size();
}

}  // namespace kith
