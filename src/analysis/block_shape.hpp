// How the blocks of an array lie in two dimensions, found from the tasks that link them. For pictures of a
// program's data.
//
// A recording has addresses but no shapes. Tasks that depend on each other, and accesses of one task, mostly
// concern blocks that are close in the program's own view. So of all ways to lay n blocks in rows,
// find_shape() takes the one that brings linked blocks closest (mean of |rows| + |columns|). Candidates are
// one column, every number of columns that divides n, and, if n is k(k+1)/2, the lower triangle by rows.
#pragma once

#include "analysis/arrays.hpp"
#include "recording/recording.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::analysis {

struct block_shape {
  enum shape : std::uint8_t { line, grid, triangle };
  shape what = line;
  std::int32_t rows = 0, columns = 0;
  bool given = false;  // by the caller; else found
  double linked = 0;   // mean distance of linked blocks; 0: there are no links

  /// Row and column of block i.
  std::pair<std::int32_t, std::int32_t> at(std::int32_t i) const noexcept;
};

/// Pairs of blocks that tasks link, and how many times.
struct block_link {
  std::int32_t from, to;
  std::uint64_t count;
};
std::vector<block_link> links_of(const recording&, const block_array&);

block_shape find_shape(std::size_t blocks, const std::vector<block_link>&);
/// "16x24" (rows, columns), "triangle" or "line". Throws kith::error for anything else, or if the blocks do not fit.
block_shape given_shape(std::size_t blocks, const std::string& text);

}  // namespace kith::analysis
