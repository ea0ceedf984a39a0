// Keyed graphs: nodes are named by keys, and found on demand, backwards from the wanted ones.
#pragma once

#include <kith/detail/graph_check.hpp>
#include <kith/detail/keyed_run.hpp>
#include <kith/keyed_graph.hpp>

#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

namespace kith {

/// Finds and computes the `wanted` nodes and everything they need: each node once, after all its predecessors.
/// Waits for all of them. Must be called inside a task or `runtime::run`; nodes may have the color of any worker.
/// Throws the first exception of the graph's functions (nodes that have not started are then skipped), and
/// cycle<key> if nodes wait for each other.
///
/// A node is a task that is queued twice: first to find its predecessors, and, when these have ended, to compute.
/// Its task (128 bytes) lives from when it is found until it has computed; its key is kept until explore()
/// returns. Nodes that become known or ready together are handed to the policy as a group. NabbitC paper,
/// sections II and III (dynamic task graphs).
template <keyed_graph G>
  requires(!valued_graph<G> && detail::explorable<G>)
exploration explore(G& graph, std::span<const typename G::key> wanted) {
  return detail::keyed_run<G>(graph).explore(wanted);
}
template <keyed_graph G>
  requires(!valued_graph<G> && detail::explorable<G>)
exploration explore(G& graph, std::initializer_list<typename G::key> wanted) {
  return kith::explore(graph, std::span<const typename G::key>(wanted.begin(), wanted.size()));
}
template <keyed_graph G>
  requires(!valued_graph<G> && detail::explorable<G>)
exploration explore(G& graph, const typename G::key& wanted) {
  return kith::explore(graph, std::span<const typename G::key>(&wanted, 1));
}

/// The same for nodes with values: returns the values of the `wanted` nodes, in their order, and writes to `did`,
/// if given, what was done. A value that is wanted twice is copied. Throws kith::error if it cannot be copied, or
/// if the exploration was cancelled before a wanted node had computed. In a dry run, nodes with a stated cost
/// have the value `value()`; if `value` has no default constructor, they are computed.
template <valued_graph G>
  requires(detail::explorable<G>)
std::vector<typename G::value> explore(G& graph, std::span<const typename G::key> wanted, exploration* did = nullptr) {
  detail::keyed_run<G> run(graph);
  const exploration done = run.explore(wanted);
  if (did != nullptr) *did = done;
  return run.take_values();
}
template <valued_graph G>
  requires(detail::explorable<G>)
std::vector<typename G::value> explore(G& graph, std::initializer_list<typename G::key> wanted,
                                       exploration* did = nullptr) {
  return kith::explore(graph, std::span<const typename G::key>(wanted.begin(), wanted.size()), did);
}
template <valued_graph G>
  requires(detail::explorable<G>)
typename G::value explore(G& graph, const typename G::key& wanted, exploration* did = nullptr) {
  detail::keyed_run<G> run(graph);
  const exploration done = run.explore({&wanted, 1});
  if (did != nullptr) *did = done;
  return run.take_value();
}

// ---- calls that none of these takes: the compiler says what to write

template <class G, class W>
  requires(!detail::explorable<std::remove_reference_t<G>> || !std::is_lvalue_reference_v<G> ||
           !detail::keys_of<std::remove_reference_t<G>, W>)
auto explore(G&&, W&&, exploration* = nullptr) {
  static_cast<void>(sizeof(detail::explore_check<G>));
  return detail::any_value();
}
template <class G>
  requires(!detail::explorable<std::remove_reference_t<G>> || !std::is_lvalue_reference_v<G>)
auto explore(G&&, std::initializer_list<detail::any_key>, exploration* = nullptr) {
  static_cast<void>(sizeof(detail::explore_check<G>));
  return detail::any_value();
}

}  // namespace kith
