// Tables for users, never wider than a page. For all verbs.
#pragma once

#include "command_line/folded.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// A column of labels, then columns of cells. A label that is too long gets a line of its own above its
/// row. If there are too many columns, they are printed in several blocks, one below the other.
class table {
 public:
  /// A head may have several lines, separated by '\n'. Cells are right-aligned.
  table(std::string label_head, std::vector<std::string> heads);

  /// Makes the cells of this column left-aligned.
  table& left(std::size_t column);
  /// If there are fewer cells than columns, the rest is empty. `note` is put after the row, folded.
  void row(std::string label, std::vector<std::string> cells, std::string note = {});
  /// The table with `indent` spaces before each line.
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
