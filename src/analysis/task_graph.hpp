// The tasks that work on an array, and the dependences between them, for a picture of the graph.
#pragma once

#include "analysis/arrays.hpp"
#include "analysis/block_shape.hpp"
#include "recording/recording.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::analysis {

struct task_graph {
  struct vertex {
    std::int32_t task = -1;
    std::int32_t depth = 0;  // edges on the longest path to it
    std::int32_t rank = 0;   // index among the vertices of its depth, which are ordered by where their blocks lie,
                             // lower left to upper right
  };
  std::vector<vertex> vertices;                              // in the order of creation
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;  // indices of vertices (before, after); each pair once
  std::vector<std::int32_t> at_depth;                        // the number of vertices
};

/// Keeps, of the first `most` tasks that write a block of the array, those with a dependence between them.
task_graph graph_of(const recording&, const block_array&, const block_shape&, std::size_t most);

/// The node on which each vertex ran; -1 if it did not run.
std::vector<std::int32_t> where_it_ran(const recording&, const task_graph&);

}  // namespace kith::analysis
