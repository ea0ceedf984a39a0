// Draws, for `kith placement`, the nodes on which runs put the blocks of an array, as a picture and as text.
#pragma once

#include "analysis/block_shape.hpp"
#include "analysis/placement.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// One of the runs that are drawn side by side.
struct placed_run {
  std::string policy;
  analysis::array_placement where = {};
  double seconds = 0;                  // of the run after its last mark; 0: not known
  std::vector<std::int32_t> ran = {};  // the node of each vertex of a task graph, if one is drawn
};

/// An SVG document with a panel for each run and a cell for each block, coloured by the block's home. If
/// another node ran most of the tasks that write the block, a spot in the cell has its color.
std::string draw(const std::string& title, const analysis::block_shape&, const std::vector<placed_run>&);
/// The same as text, one character a cell: 0-9, a-z, A-Z by home, '.' no home, '+' higher nodes. Empty if it would be
/// too wide or too long.
std::string as_text(const analysis::block_shape&, const analysis::array_placement&);
/// The shape of the array, in words.
std::string described(const analysis::block_shape&, const analysis::block_array&);

/// The percentage of the tasks that write blocks that ran on those blocks' homes.
double tasks_at_home_percent(const analysis::array_placement&);

}  // namespace kith::tools
