// `kith placement --tasks`: the dependences between tasks, coloured by the node that ran them.
#pragma once

#include "analysis/task_graph.hpp"
#include "placement/draw.hpp"

namespace kith::tools {

/// RIP paper, figure 3. An SVG document: time goes down by depth in the graph; tasks of one depth are in the order of their
/// blocks from lower left to upper right. A line whose ends have different colours is data that moves.
std::string draw_graph(const std::string& title, const analysis::task_graph&, const std::vector<placed_run>&);

/// Edges between nodes, in percent of all.
double edges_apart_percent(const analysis::task_graph&, const std::vector<std::int32_t>& ran);

}  // namespace kith::tools
