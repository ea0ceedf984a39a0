// Keyed graphs: nodes are known by keys and found on demand, from the ones that are wanted backwards.
#pragma once

#include <kith/detail/keyed_run.hpp>
#include <kith/keyed_graph.hpp>

#include <initializer_list>
#include <span>
#include <vector>

namespace kith {

/// Finds and computes everything that the `wanted` nodes need, and them; each node once, after all its predecessors.
/// Waits. Inside a task or `runtime::run`; colors may be of any worker. Throws the first exception of the graph's
/// functions (nodes that have not started are then skipped), and cycle<key> if nodes wait for each other.
///
/// A node is a task that is queued twice: to find its predecessors, then, when they have ended, to compute. It lives
/// from when it is found until it has computed (128 bytes); its key is kept until the end. NabbitC paper, sections II
/// and III (dynamic task graphs); which nodes become known or ready together is told to the policy as a group.
template <keyed_graph G>
  requires(!valued_graph<G>)
exploration explore(G& graph, std::span<const typename G::key> wanted) {
  return detail::keyed_run<G>(graph).explore(wanted);
}
template <keyed_graph G>
  requires(!valued_graph<G>)
exploration explore(G& graph, std::initializer_list<typename G::key> wanted) {
  return explore(graph, std::span<const typename G::key>(wanted.begin(), wanted.size()));
}
template <keyed_graph G>
  requires(!valued_graph<G>)
exploration explore(G& graph, const typename G::key& wanted) {
  return explore(graph, std::span<const typename G::key>(&wanted, 1));
}

/// The same where nodes have values: returns those of the `wanted` ones, in their order, and says what was done in `did`,
/// if that is given. A value that is wanted twice is copied; throws kith::error if it cannot be, and if the exploration
/// was cancelled before a wanted node had computed. In a dry run nodes that say a cost have the value `value()`; if there
/// is no such thing, they are computed.
template <valued_graph G>
std::vector<typename G::value> explore(G& graph, std::span<const typename G::key> wanted, exploration* did = nullptr) {
  detail::keyed_run<G> run(graph);
  const exploration done = run.explore(wanted);
  if (did != nullptr) *did = done;
  return run.take_values();
}
template <valued_graph G>
std::vector<typename G::value> explore(G& graph, std::initializer_list<typename G::key> wanted,
                                       exploration* did = nullptr) {
  return explore(graph, std::span<const typename G::key>(wanted.begin(), wanted.size()), did);
}
template <valued_graph G>
typename G::value explore(G& graph, const typename G::key& wanted, exploration* did = nullptr) {
  detail::keyed_run<G> run(graph);
  const exploration done = run.explore({&wanted, 1});
  if (did != nullptr) *did = done;
  return run.take_value();
}

}  // namespace kith
