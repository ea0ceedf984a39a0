#include "policy/contract/team.hpp"

#include "base/invariant.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace kith {

team::team(const machine& on, std::vector<node_id> node_of)
    : on_(on), node_of_(std::move(node_of)), at_node_(on.nodes.size()), everybody_(worker_set::all(size())) {
  KITH_INVARIANT(!node_of_.empty(), "a team has workers");
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
  if (order == victim_order::nearest) {
    // Ties in cyclic order.
    std::ranges::sort(found, {}, [&](worker_id v) {
      return std::pair(distance(node_of(thief), node_of(v)), (v.value - thief.value + size()) % size());
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

const machine::cache* team::last_cache(node_id n) const {
  const std::vector<core_id>& cores = on_.nodes[n.index()].cores;
  if (cores.empty()) return nullptr;
  const machine::cache* last = nullptr;
  for (const machine::cache& c : on_.caches) {
    if (std::ranges::find(c.cores, cores.front()) == c.cores.end()) continue;
    if (last == nullptr || c.level > last->level) last = &c;
  }
  return last;
}

std::uint64_t team::cache_share(node_id n) const {
  const machine::cache* last = last_cache(n);
  return last == nullptr ? 0 : last->bytes / last->cores.size();
}

bool team::shares_cache(node_id n) const {
  const machine::cache* last = last_cache(n);
  return last != nullptr && std::ranges::all_of(on_.nodes[n.index()].cores, [last](core_id c) {
           return std::ranges::find(last->cores, c) != last->cores.end();
         });
}

}  // namespace kith
