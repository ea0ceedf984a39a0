// Graphs that are known before they run, and run any number of times.
#pragma once

#include <kith/graph.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace kith {

/// Nodes and edges, built by one thread, then run as often as wanted: no keys, no exploration, one join counter a node.
/// NabbitC paper, section II (static task graphs). 16 bytes a node and 4 an edge beside its function, a task (128 bytes)
/// only while it is ready or runs.
class static_graph {
 public:
  /// Nodes are numbered from 0 in the order of their creation.
  using node = std::uint32_t;

  static_graph();
  ~static_graph();
  static_graph(static_graph&&) noexcept;
  static_graph& operator=(static_graph&&) noexcept;

  /// A node that calls `f` each time the graph runs. Options as for spawn(): color, node, priority, task_type.
  template <class F, class... Options>
  node add(F&& f, const Options&... options) {
    detail::hints h;
    (detail::apply(h, options), ...);
    return add_node(std::function<void()>(std::forward<F>(f)), h);
  }
  /// `after` starts when `before` has ended. Throws kith::error for a node that does not exist.
  void edge(node before, node after);

  std::size_t nodes() const noexcept;
  std::size_t edges() const noexcept;

  /// Runs every node once, after all its predecessors; waits. Inside a task or `runtime::run`. Throws the first
  /// exception of a node (nodes that have not started are then skipped), cycle<node> if the edges form one (found before
  /// anything starts), kith::error if the graph is running already. Cost of the first run after a change: the edges are
  /// sorted.
  void run();

 private:
  struct content;
  node add_node(std::function<void()> f, const detail::hints& h);
  std::unique_ptr<content> content_;
};

}  // namespace kith
