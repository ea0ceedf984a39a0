// Tables for people, never wider than a page. For all verbs.
#pragma once

#include "command_line/folded.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// A column of labels, then columns of cells. A label that is too long stands on a line of its own, above its row; columns
/// that are too many are printed in several blocks, one below the other.
class table {
 public:
  /// A head may have several lines, parted by '\n'. Cells are on the right of their column.
  table(std::string label_head, std::vector<std::string> heads);

  /// Cells of this column are on its left.
  table& left(std::size_t column);
  /// Fewer cells than columns: the rest is empty. `note` stands behind the row, folded.
  void row(std::string label, std::vector<std::string> cells, std::string note = {});
  /// With `indent` spaces before each line.
  std::string text(std::size_t indent = 0, std::size_t width = page_columns) const;

 private:
  struct line {
    std::string label;
    std::vector<std::string> cells;
    std::string note;
  };
  std::size_t width_of(std::size_t column) const;
  std::string block(std::size_t first, std::size_t last, std::size_t label, std::size_t indent,
                    std::size_t width) const;

  std::string label_head_;
  std::vector<std::string> heads_;
  std::vector<bool> left_;
  std::vector<line> lines_;
};

}  // namespace kith::tools
