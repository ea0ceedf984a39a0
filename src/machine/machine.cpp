#include "machine/machine.hpp"

#include "base/invariant.hpp"

#include <algorithm>
#include <tuple>

namespace kith {

std::vector<node_id> machine::nearest_nodes(node_id from) const {
  std::vector<node_id> found{from};
  for (const node& n : nodes) {
    if (n.id != from) found.push_back(n.id);
  }
  // A table may give another node the local distance; `from` stays first anyway.
  std::sort(found.begin() + 1, found.end(),
            [&](node_id a, node_id b) { return std::tuple(distance(from, a), a) < std::tuple(distance(from, b), b); });
  return found;
}

node_id machine::nearest_node_with_cores(node_id from) const {
  for (node_id n : nearest_nodes(from)) {
    if (!nodes[n.index()].cores.empty()) return n;
  }
  broken("a machine has cores", __FILE__, __LINE__);
}

std::vector<int> machine::last_caches() const {
  std::vector<int> last(cores.size(), -1);
  for (std::size_t c = 0; c < caches.size(); ++c) {
    for (core_id each : caches[c].cores) {
      int& known = last[each.index()];
      if (known < 0 || caches[c].level > caches[static_cast<std::size_t>(known)].level) known = static_cast<int>(c);
    }
  }
  return last;
}

node_id machine::nearest_node_with_memory(node_id from) const {
  if (nodes[from.index()].memory_bytes != 0) return from;
  const auto order = [&](const node& n) {
    const int own = nodes[from.index()].os_index;
    return std::tuple(distance(from, n.id), n.os_index < own, n.os_index);
  };
  const node* nearest = nullptr;
  for (const node& n : nodes) {
    if (n.memory_bytes != 0 && (nearest == nullptr || order(n) < order(*nearest))) nearest = &n;
  }
  return nearest != nullptr ? nearest->id : from;
}

std::string distances_text(const machine& m) {
  std::string text;
  for (const std::vector<int>& row : m.distances) {
    if (!text.empty()) text += '/';
    for (std::size_t b = 0; b < row.size(); ++b) {
      if (b > 0) text += ',';
      text += std::to_string(row[b]);
    }
  }
  return text;
}

}  // namespace kith
