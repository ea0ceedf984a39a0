// A rectangle of cells in two buffers, swept in blocks of rows: shared by heat and life.
//
// Node (t, b) computes block b of step t from the blocks b-1, b and b+1 of step t-1 (NabbitC paper, table
// I). The cells outside the rectangle never change. The two outer rows are blocks of their own, so that
// each node has the same accesses. No two blocks share a page.
#pragma once

#include "blocks.hpp"
#include "nodes.hpp"
#include "paged.hpp"

#include <memory>
#include <string>
#include <utility>

namespace kith::apps {

/// For programs on rectangles.
inline constexpr parameter rows_parameter = {"rows", "", "", "rows (as many as columns)", "655360"};

template <class Cell>
class row_grid {
 public:
  /// From --size (columns), --rows and --block.
  explicit row_grid(const arguments& a) : row_grid(a, a.number("size", 1, 1 << 20)) {}

  std::int64_t rows() const noexcept { return blocks_.items; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int64_t block_count() const noexcept { return blocks_.count(); }
  /// Row i, -1..rows(); its cells are [-1]..[columns()].
  Cell* row(int buffer, std::int64_t i) const noexcept {
    const std::int64_t b = i < 0 ? 0 : i < rows() ? 1 + i / blocks_.each : block_count() + 1;
    return buffer_[buffer][b] + (i - first_row(b)) * (columns_ + 2) + 1;
  }
  /// The memory of a buffer, including the cells outside the rectangle.
  std::span<std::byte> bytes(int buffer) const noexcept { return buffer_[buffer].bytes(); }
  /// Block b has the rows from first_row(b) to first_row(b + 1), exclusive. Block 0 is row -1; block
  /// block_count() + 1 is row rows().
  std::int64_t first_row(std::int64_t b) const noexcept {
    if (b == 0) return -1;
    return b <= block_count() + 1 ? std::min(blocks_.begin(b - 1), rows()) : rows() + 1;
  }
  /// The cells of block b.
  std::pair<Cell*, std::size_t> block(int buffer, std::int64_t b) const noexcept {
    const auto rows_of = static_cast<std::size_t>(first_row(b + 1) - first_row(b));
    return {row(buffer, first_row(b)) - 1, rows_of * static_cast<std::size_t>(columns_ + 2)};
  }

  /// Sets each cell (i, j) of both buffers to initial(i, j). The rows outside are filled with the blocks beside them.
  template <class Initial>
  void fill(const target& where, const way& how, const task_type& type, Initial initial) {
    const auto blocks_of = [this](std::int64_t share) {
      return std::pair(share == 0 ? 0 : share + 1, share + 1 == block_count() ? share + 3 : share + 2);
    };
    initialise(
        where, how, type, block_count(),
        [this, initial, blocks_of](std::int64_t share) {
          const auto [first, end] = blocks_of(share);
          for (int buffer : {0, 1}) {
            for (std::int64_t i = first_row(first); i < first_row(end); ++i) {
              for (std::int64_t j = -1; j <= columns_; ++j) row(buffer, i)[j] = initial(i, j);
            }
          }
        },
        [this, blocks_of](std::int64_t share, access_list& all) {
          const auto [first, end] = blocks_of(share);
          for (int buffer : {0, 1}) {
            for (std::int64_t b = first; b < end; ++b) {
              const auto [cells, count] = block(buffer, b);
              all.add(out(cells, count));
            }
          }
        });
  }

 private:
  row_grid(const arguments& a, std::int64_t columns)
      : columns_(columns),
        blocks_{a.text("rows").empty() ? columns : a.number("rows", 1, 1 << 20), a.number("block", 1, 1 << 20)},
        buffer_{allocate(), allocate()} {}
  paged<Cell> allocate() const { return {block_count() + 2, std::min(blocks_.each, rows()) * (columns_ + 2)}; }

  std::int64_t columns_;
  blocks blocks_;
  paged<Cell> buffer_[2];
};

/// `steps` sweeps from buffer to buffer, beginning with buffer 0. rule(above, here, below, next, columns)
/// computes the row `next`.
template <class Cell, class Rule>
class row_sweep final : public node_program {
 public:
  row_sweep(const row_grid<Cell>& grid, std::int64_t steps, const task_type& type, double ns_per_cell, Rule rule)
      : grid_(grid),
        steps_(static_cast<std::int32_t>(steps)),
        type_(type),
        ns_per_cell_(ns_per_cell),
        rule_(std::move(rule)) {}

  std::int32_t steps() const override { return steps_; }
  std::int32_t nodes(std::int32_t) const override { return static_cast<std::int32_t>(grid_.block_count()); }
  void predecessors(node_name n, keys<node_name>& all) const override { add_neighbours(n, nodes(0), all); }
  void accesses(node_name n, access_list& all) const override {
    const int from = n.step % 2;
    for (int d : {1, 0, 2}) {
      const auto [cells, count] = grid_.block(from, n.index + d);
      const auto row = static_cast<std::size_t>(grid_.columns()) * sizeof(Cell);
      all.add(d == 1 ? in(cells, count) : in(cells, count).touching(row));  // of a neighbour, only the row
                                                                            // at the border
    }
    const auto [cells, count] = grid_.block(1 - from, n.index + 1);
    all.add(out(cells, count));
  }
  void compute(node_name n) override {
    const int from = n.step % 2;
    for (std::int64_t i = grid_.first_row(n.index + 1); i < grid_.first_row(n.index + 2); ++i) {
      rule_(grid_.row(from, i - 1), grid_.row(from, i), grid_.row(from, i + 1), grid_.row(1 - from, i),
            grid_.columns());
    }
  }
  const task_type& type(std::int32_t) const override { return type_; }
  double work(node_name n) const override {
    const std::int64_t rows = grid_.first_row(n.index + 2) - grid_.first_row(n.index + 1);
    return ns_per_cell_ * static_cast<double>(rows * grid_.columns());
  }

 private:
  const row_grid<Cell>& grid_;
  std::int32_t steps_;
  const task_type& type_;
  double ns_per_cell_;
  Rule rule_;
};

}  // namespace kith::apps
