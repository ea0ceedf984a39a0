// Finds nodes that wait for each other; prints keys in messages.
#pragma once

#include <kith/keyed_graph.hpp>

#include <cstddef>
#include <exception>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::detail {

/// A blank and the key in quotes; empty if the key cannot be printed.
template <class Key>
std::string key_text(const Key& k) {
  std::ostringstream text;
  if constexpr (requires { text << k; }) text << " '" << k << "'";
  return text.str();
}

template <class Key>
cycle<Key> cycle_of(std::vector<Key> circle) {
  constexpr std::size_t shown = 20;
  std::ostringstream text;
  text << "graph: a cycle of " << circle.size() << (circle.size() == 1 ? " node" : " nodes");
  if constexpr (requires { text << circle.front(); }) {
    text << ", each needs the next: ";
    for (std::size_t i = 0; i < circle.size() && i < shown; ++i) text << circle[i] << " -> ";
    if (circle.size() > shown) text << "... -> ";
    text << circle.front();
  }
  return {text.str(), std::move(circle)};
}

/// Returns a cycle of nodes that wait for each other, as an exception. Call it after a run that left such nodes;
/// lives(task) says which are left.
template <class G, class Table, class Lives>
std::exception_ptr find_cycle(G& graph, Table& table, const Lives& lives) {
  using key = typename G::key;
  using item = typename Table::item;
  try {
    const item* at = nullptr;
    table.for_each([&](const item& i) {
      if (at == nullptr && lives(i.second.task)) at = &i;
    });
    std::unordered_map<const item*, std::size_t> seen;
    std::vector<key> path;
    while (at != nullptr && seen.try_emplace(at, path.size()).second) {
      path.push_back(at->first);
      keys<key> list;
      graph.predecessors(at->first, list);
      at = nullptr;
      for (const key& k : list) {
        const item* const before = table.find(k);
        if (before != nullptr && lives(before->second.task)) at = before;
      }
    }
    if (at == nullptr)
      throw error(
          "keyed graph: nodes are left that wait for nothing: predecessors() returned different keys in a second call");
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(seen[at]));
    throw detail::cycle_of(std::move(path));
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace kith::detail
