// The input of partitioning: a weighted undirected graph, and targets at distances from each other.
//
// Plain values. A vertex is a task, an edge is the bytes that two tasks share, a target is a memory node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kith::partition {

struct edge {
  std::int32_t a = 0, b = 0;
  std::int64_t weight = 1;
};

/// Compressed rows: the neighbours of v are arcs[first[v]] to arcs[first[v + 1]], exclusive, by number. Each
/// edge is stored twice.
struct graph {
  struct arc {
    std::int32_t to;
    std::int64_t weight;
  };
  std::vector<std::int32_t> load;  // of each vertex, 1 or more
  std::vector<std::size_t> first;
  std::vector<arc> arcs;

  std::int32_t vertices() const noexcept { return static_cast<std::int32_t>(load.size()); }
  std::size_t edges() const noexcept { return arcs.size() / 2; }
  std::span<const arc> around(std::int32_t v) const noexcept {
    const auto i = static_cast<std::size_t>(v);
    return {arcs.data() + first[i], arcs.data() + first[i + 1]};
  }
};

/// The graph of these edges, which may be in any order. Parallel edges are summed, edges from a vertex to
/// itself are dropped, and weights below 1 count as 1. Cost: O(E log E). REQUIRES: ends are vertices.
graph graph_of(std::vector<std::int32_t> loads, std::vector<edge> edges);

/// The same graph with all weights divided by one number (1 stays 1), so that they sum to at most `most`, or to
/// the number of arcs if that is more.
graph scaled(graph g, std::int64_t most);

/// The targets that vertices can be mapped to.
struct targets {
  std::vector<std::int32_t> capacity;  // of each part, relative: its share of the load; 0: gets no vertices
  std::vector<std::int32_t> distance;  // row by row; the smallest of a row is a part's distance to itself

  std::int32_t parts() const noexcept { return static_cast<std::int32_t>(capacity.size()); }
  /// The cost of a unit of weight between a and b: the distance in excess of that inside a part.
  std::int64_t between(std::int32_t a, std::int32_t b) const noexcept {
    const auto row = static_cast<std::size_t>(a) * capacity.size();
    return distance[row + static_cast<std::size_t>(b)] - distance[row + static_cast<std::size_t>(a)];
  }
};

}  // namespace kith::partition
