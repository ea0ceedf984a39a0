// The matrix that cg generates, in the manner of NAS: a sum of outer products of sparse random vectors with falling
// weights, plus a diagonal, so it is symmetric and positive definite. It is made row by row: a dry run needs only the
// places of its entries, and the paper's matrix has 650 million.
#pragma once

#include "hash.hpp"
#include "matrix_market.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace kith::apps {

class outer_products {
 public:
  /// Draws the vectors: `nonzeros` random elements each, and one on the diagonal. Memory: 20 bytes for each element.
  outer_products(std::int64_t size, std::int64_t nonzeros, std::uint64_t seed)
      : each_(static_cast<std::size_t>(nonzeros) + 1),
        rows_(static_cast<std::size_t>(size)),
        row_(rows_ * each_),
        value_(rows_ * each_),
        first_(rows_ + 1, 0),
        of_row_(rows_ * each_) {
    for (std::size_t i = 0; i < rows_; ++i) {
      row_[i * each_] = static_cast<std::uint32_t>(i);
      value_[i * each_] = 0.5;
      for (std::size_t k = 1; k < each_; ++k) {
        const std::uint64_t drawn = i * (each_ - 1) + k - 1;
        row_[i * each_ + k] = static_cast<std::uint32_t>(hash(seed, drawn) % rows_);
        value_[i * each_ + k] = hash_unit(seed + 1, drawn);
      }
    }
    for (std::uint32_t r : row_) ++first_[r + std::size_t{1}];
    for (std::size_t r = 0; r < rows_; ++r) first_[r + 1] += first_[r];
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < row_.size(); ++e) of_row_[next[row_[e]]++] = e;
  }

  /// Calls at(row, column) once for each entry, row after row.
  template <class At>
  void places(At&& at) const {
    std::vector<std::uint32_t> seen_in(rows_, static_cast<std::uint32_t>(rows_));
    for (std::size_t r = 0; r < rows_; ++r) {
      terms(r, [&](std::uint32_t column, double) {
        if (seen_in[column] == static_cast<std::uint32_t>(r)) return;
        seen_in[column] = static_cast<std::uint32_t>(r);
        at(static_cast<std::uint32_t>(r), column);
      });
    }
  }
  /// Sorted by rows, then columns.
  std::vector<matrix::entry> entries() const {
    std::vector<matrix::entry> all;
    for (std::size_t r = 0; r < rows_; ++r) {
      terms(r,
            [&](std::uint32_t column, double value) { all.push_back({static_cast<std::uint32_t>(r), column, value}); });
    }
    return merged(std::move(all));
  }

 private:
  static constexpr double condition = 0.1, diagonal = 4;

  /// Calls term(column, value) for each summand of a row, from the vectors and the diagonal, so perhaps several times
  /// for a column.
  template <class Term>
  void terms(std::size_t r, Term&& term) const {
    for (std::size_t at = first_[r]; at < first_[r + 1]; ++at) {
      const std::size_t element = of_row_[at], vector = element / each_;
      const double x = std::pow(condition, static_cast<double>(vector) / static_cast<double>(rows_)) * value_[element];
      for (std::size_t e = vector * each_; e < (vector + 1) * each_; ++e) term(row_[e], x * value_[e]);
    }
    term(static_cast<std::uint32_t>(r), diagonal);
  }

  std::size_t each_, rows_;         // elements of a vector; vectors, one for each row
  std::vector<std::uint32_t> row_;  // of each element, vector after vector
  std::vector<double> value_;
  std::vector<std::size_t> first_, of_row_;  // the elements in row r: of_row_[first_[r]] up to first_[r + 1]
};

}  // namespace kith::apps
