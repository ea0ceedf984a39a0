// Draws, for `kith placement --tasks`, the dependences between tasks, coloured by the nodes that ran them.
#pragma once

#include "analysis/task_graph.hpp"
#include "placement/draw.hpp"

namespace kith::tools {

/// RIP paper, figure 3. An SVG document: depth in the graph goes down; tasks of one depth are in the order
/// of their blocks, from lower left to upper right. A line whose ends differ in color is data that moves.
std::string draw_graph(const std::string& title, const analysis::task_graph&, const std::vector<placed_run>&);

/// The percentage of edges between tasks on different nodes.
double edges_apart_percent(const analysis::task_graph&, const std::vector<std::int32_t>& ran);

}  // namespace kith::tools
