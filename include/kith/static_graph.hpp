// Graphs that are built before they run, and can run any number of times.
#pragma once

#include <kith/detail/creation.hpp>
#include <kith/detail/node_check.hpp>
#include <kith/graph.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith {

/// Nodes and edges, built by one thread, then run as often as wanted. There are no keys and no exploration; each node
/// has one join counter. NabbitC paper, section II (static task graphs). A node takes about 90 bytes besides its
/// function, an edge 12. Runs make no tasks and do not ask the policy, except in the cases that kith::captured_graph
/// lists; only then has a node a task (128 bytes), while it is ready or runs.
class static_graph {
 public:
  /// Nodes are numbered from 0 in the order of their creation.
  using node = std::uint32_t;

  /// A graph without nodes.
  static_graph();
  ~static_graph();
  /// A moved-from graph has no nodes. add() throws kith::error for it until another graph is assigned to it.
  static_graph(static_graph&&) noexcept;
  static_graph& operator=(static_graph&&) noexcept;

  /// Adds a node that calls `f` each time the graph runs; `f` is copied or moved into the graph. Options: color,
  /// node, priority, work, task_type, name.
  template <class F, class... Options>
  node add(F&& f, const Options&... options) {
    if constexpr (detail::is_node_call<F, Options...>()) {
      using body = std::decay_t<F>;
      detail::hints h;
      (detail::apply(h, options), ...);
      void* const place = room_for_node(sizeof(body), alignof(body));
      ::new (place) body(std::forward<F>(f));
      return add_node({place, &detail::code_of<body>}, h);
    } else {
      return 0;
    }
  }
  /// The `wanted` nodes of a keyed graph, and everything they need, for graphs that are run again and whose answers
  /// stay the same. The calling thread asks for the predecessors of each node once, and for its color, memory node and
  /// cost; each run calls compute(key) for each node once. `graph` must outlive the result. Not for graphs whose nodes
  /// have values, or name further nodes while they compute; accesses() is not asked. Throws what the graph's functions
  /// throw; cycles are found by run().
  template <keyed_graph G>
    requires(!valued_graph<G> && requires(G& g, const typename G::key& k) { g.compute(k); })
  static static_graph of(G& graph, std::span<const typename G::key> wanted);

  /// Orders `after` behind `before`: it starts when `before` has ended. Throws kith::error for a node that does not
  /// exist.
  void edge(node before, node after);

  /// The number of nodes, and of edges, that were added. 0 for a moved-from graph.
  std::size_t nodes() const noexcept;
  std::size_t edges() const noexcept;

  /// Runs every node once, after all its predecessors, and waits for all. Must be called inside a task or
  /// `runtime::run`. Throws the first exception of a node (nodes that have not started are then skipped),
  /// cycle<node> if the edges form a cycle (found before anything starts), kith::error if the graph is already
  /// running. The first run after a change also sorts the edges.
  void run();

 private:
  struct content;
  struct function {
    void* object;
    detail::task_code code;
  };
  /// Memory for the next node's function. After this call, adding the node cannot fail.
  void* room_for_node(std::size_t bytes, std::size_t align);
  node add_node(const function& f, const detail::hints& h) noexcept;
  content& present(const char* who) const;
  std::unique_ptr<content> content_;
};

template <keyed_graph G>
  requires(!valued_graph<G> && requires(G& g, const typename G::key& k) { g.compute(k); })
static_graph static_graph::of(G& graph, std::span<const typename G::key> wanted) {
  using key = typename G::key;
  static_graph made;
  std::unordered_map<key, node> known;
  std::vector<const key*> found;  // by node
  const auto node_of = [&](const key& k) {
    const auto [at, is_new] = known.try_emplace(k, static_cast<node>(found.size()));
    if (is_new) {
      found.push_back(&at->first);
      const auto body = [&graph, k] { graph.compute(k); };
      detail::hints h;
      if constexpr (requires { graph.color(k); }) detail::apply(h, kith::color{graph.color(k)});
      if constexpr (requires { graph.node(k); }) detail::apply(h, kith::node{graph.node(k)});
      if constexpr (requires { graph.cost(k); }) detail::apply(h, work{graph.cost(k)});
      void* const place = made.room_for_node(sizeof body, alignof(decltype(body)));
      using kept = std::remove_const_t<decltype(body)>;
      ::new (place) kept(body);
      made.add_node({place, &detail::code_of<kept>}, h);
    }
    return at->second;
  };
  for (const key& k : wanted) node_of(k);
  keys<key> needed;
  for (node n = 0; n < found.size(); ++n) {
    needed.clear();
    graph.predecessors(*found[n], needed);
    for (const key& k : needed) made.edge(node_of(k), n);
  }
  return made;
}

}  // namespace kith
