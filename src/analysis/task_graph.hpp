// The tasks that work on an array, and the dependences between them, for a picture of the graph.
#pragma once

#include "analysis/arrays.hpp"
#include "analysis/layout.hpp"
#include "recording/recording.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::analysis {

struct task_graph {
  struct vertex {
    std::int32_t task = -1;
    std::int32_t depth = 0;  // edges of the longest way that leads to it
    std::int32_t place = 0;  // among those of its depth, by where its block lies: from lower left to upper right
  };
  std::vector<vertex> vertices;                              // in the order of creation
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // vertices: before, after; each once
  std::vector<std::int32_t> at_depth;                        // how many
};

/// Of the first `most` tasks that write a block of the array, those with a dependence between them.
task_graph graph_of(const recording&, const block_array&, const layout&, std::size_t most);

/// The node on which each vertex ran; -1: it did not.
std::vector<std::int32_t> where_it_ran(const recording&, const task_graph&);

}  // namespace kith::analysis
