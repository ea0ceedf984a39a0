// The nodes that memory can come from: those with memory that this process may use.
#include "memory/memory_space.hpp"
#include "memory/numa_calls.hpp"

#include <algorithm>

namespace kith {

namespace {

/// By node: whether memory can come from it. A machine without sizes of memory counts as having it everywhere.
std::vector<bool> with_memory(const machine& on) {
  const bool told = std::ranges::any_of(on.nodes, [](const machine::node& n) { return n.memory_bytes != 0; });
  const std::vector<int> allowed = on.pretended ? std::vector<int>() : numa::allowed_nodes();
  std::vector<bool> found;
  for (const machine::node& n : on.nodes) {
    const bool may = allowed.empty() || std::ranges::find(allowed, n.os_index) != allowed.end();
    found.push_back(may && (!told || n.memory_bytes != 0));
  }
  if (std::ranges::find(found, true) == found.end()) found.assign(found.size(), true);
  return found;
}

/// The node on which the system puts memory that a processor of node `from` touches first: Linux prefers near nodes,
/// then nodes without processors, then those with numbers after `from`.
node_id first_choice(const machine& on, const machine::node& from, const std::vector<bool>& some) {
  if (some[from.id.index()]) return from.id;
  node_id best;
  int least = 0;
  for (const machine::node& n : on.nodes) {
    if (!some[n.id.index()]) continue;
    const int cost = on.distance(from.id, n.id) + (n.os_index < from.os_index ? 1 : 0) + (n.cores.empty() ? 0 : 1);
    if (best && cost >= least) continue;
    best = n.id;
    least = cost;
  }
  return best;
}

}  // namespace

memory_nodes::memory_nodes(const machine& on, std::span<const node_id> serving) {
  const std::vector<bool> some = with_memory(on);
  for (const machine::node& n : on.nodes) nearest_.push_back(first_choice(on, n, some));
  std::vector<node_id> hosts(serving.begin(), serving.end());
  std::ranges::sort(hosts);
  std::ranges::rotate(hosts, std::ranges::find(hosts, serving.front()));
  for (node_id n : hosts) {
    if (const node_id m = nearest(n); std::ranges::find(in_turn_, m) == in_turn_.end()) in_turn_.push_back(m);
  }
  dealt_ = in_turn_;
  std::ranges::sort(dealt_, {}, [&](node_id n) { return on.nodes[n.index()].os_index; });
}

}  // namespace kith
