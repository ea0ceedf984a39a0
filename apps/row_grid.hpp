// A square of cells in two buffers, swept in blocks of rows: what heat and life have in common.
//
// Task (t, b) computes block b of step t from the blocks b-1, b and b+1 of step t-1 (NabbitC paper, table I). The cells
// outside the square never change; the two rows among them are blocks of their own, so that each task has the same
// accesses.
#pragma once

#include "app.hpp"
#include "blocks.hpp"

#include <array>
#include <memory>
#include <vector>

namespace kith::apps {

template <class Cell>
class row_grid {
 public:
  row_grid(std::int64_t size, std::int64_t block_rows)
      : size_(size), rows_{size, block_rows}, buffer_{allocate(size), allocate(size)} {}

  std::int64_t size() const noexcept { return size_; }
  /// Row i, -1..size; its cells are [-1]..[size].
  Cell* row(int buffer, std::int64_t i) noexcept { return buffer_[buffer].get() + (i + 1) * (size_ + 2) + 1; }
  /// All cells of a buffer, those outside the square included.
  std::span<Cell> cells(int buffer) noexcept {
    return {buffer_[buffer].get(), static_cast<std::size_t>((size_ + 2) * (size_ + 2))};
  }

  /// Each cell (i, j) of both buffers becomes initial(i, j).
  template <class Initial>
  void fill(const target& where, const task_type& type, Initial initial) {
    auto blocks_of = handles();
    where.on.run([&] {
      for (std::int64_t b = 0; b < rows_.count() + 2; ++b) {
        const auto body = [this, b, initial] {
          for (int buffer : {0, 1}) {
            for (std::int64_t i = first_row(b); i < first_row(b + 1); ++i) {
              for (std::int64_t j = -1; j <= size_; ++j) row(buffer, i)[j] = initial(i, j);
            }
          }
        };
        const auto at = static_cast<std::size_t>(b);
        spawn(body, type, node_of(where, b), out(blocks_of[0][at]), out(blocks_of[1][at]));
      }
    });
  }

  /// `steps` times, from buffer to buffer: rule(above, here, below, next, size) computes the row `next`. Returns the
  /// buffer with the result.
  template <class Rule>
  int sweep(const target& where, const task_type& type, std::int64_t steps, Rule rule) {
    auto blocks_of = handles();
    where.on.run([&] {
      for (std::int64_t t = 0; t < steps; ++t) {
        const int from = static_cast<int>(t % 2), to = 1 - from;
        for (std::int64_t b = 1; b <= rows_.count(); ++b) {
          const auto body = [this, b, from, to, rule] {
            for (std::int64_t i = first_row(b); i < first_row(b + 1); ++i) {
              rule(row(from, i - 1), row(from, i), row(from, i + 1), row(to, i), size_);
            }
          };
          auto* source = &blocks_of[from][static_cast<std::size_t>(b)];
          spawn(body, type, node_of(where, b), in(source[0]), in(source[-1]), in(source[1]),
                out(blocks_of[to][static_cast<std::size_t>(b)]));
        }
      }
    });
    return static_cast<int>(steps % 2);
  }

 private:
  static std::unique_ptr<Cell[]> allocate(std::int64_t size) {  // untouched: the tasks of fill() touch it
    return std::make_unique_for_overwrite<Cell[]>(static_cast<std::size_t>((size + 2) * (size + 2)));
  }

  /// Block 0 is row -1, block count+1 is row `size`.
  std::int64_t first_row(std::int64_t b) const noexcept {
    if (b == 0) return -1;
    return b <= rows_.count() + 1 ? std::min(rows_.begin(b - 1), size_) : size_ + 1;
  }
  node node_of(const target& where, std::int64_t b) const noexcept {
    return where.of(std::clamp<std::int64_t>(b - 1, 0, rows_.count() - 1), rows_.count());
  }
  std::vector<handle<Cell[]>> handles(int buffer) {
    std::vector<handle<Cell[]>> all;
    for (std::int64_t b = 0; b < rows_.count() + 2; ++b) {
      Cell* first = row(buffer, first_row(b)) - 1;
      all.emplace_back(first, static_cast<std::size_t>((first_row(b + 1) - first_row(b)) * (size_ + 2)));
    }
    return all;
  }
  /// New ones for each run: a handle belongs to the first scope that uses it.
  std::array<std::vector<handle<Cell[]>>, 2> handles() { return {handles(0), handles(1)}; }

  std::int64_t size_;
  blocks rows_;
  std::unique_ptr<Cell[]> buffer_[2];
};

}  // namespace kith::apps
