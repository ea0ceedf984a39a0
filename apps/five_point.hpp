// Steps from plate to plate, in which each cell becomes a weighted mean of itself and its four neighbours: shared
// by heat and jacobi, which differ in the weights. Properties checked, against a serial program with its own layout
// and loop:
//  H1  every cell equals the serial one, up to rounding;
//  H2  the border has not changed.
#pragma once

#include "hash.hpp"
#include "row_app.hpp"
#include "worst.hpp"

#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace kith::apps {

/// The weights of a cell and of each of its neighbours.
struct weights {
  double here, side;
};

class five_point : public row_app<double> {
 public:
  std::uint64_t verifying_bytes() const final {
    return 2 * sizeof(double) * static_cast<std::uint64_t>((rows() + 2) * (columns() + 2));
  }
  verdict verify() final {
    if (expected_.empty()) expected_ = serial();
    double worst = 0;
    auto expected = expected_.begin();
    for (std::int64_t i = -1; i <= rows(); ++i) {
      for (std::int64_t j = -1; j <= columns(); ++j) worst = worst_of(worst, std::fabs(result_row(i)[j] - *expected++));
    }
    char text[160];
    std::snprintf(text, sizeof text,
                  "%zu cells, border included, differ from the serial program's by at most %.2g (bound 1e-9)",
                  expected_.size(), worst);
    return {worst <= 1e-9, text};
  }

 protected:
  five_point(const arguments& a, weights w, node_choice nodes = node_choice::shares) : row_app(a, nodes), weights_(w) {}

  std::unique_ptr<node_program> sweep_as(const task_type& type, double ns_per_cell) const {
    return sweep_by(type, ns_per_cell,
                    [w = weights_](const double* above, const double* here, const double* below, double* next,
                                   std::int64_t columns) {
                      for (std::int64_t j = 0; j < columns; ++j) {
                        next[j] = w.here * here[j] + w.side * (above[j] + below[j] + here[j - 1] + here[j + 1]);
                      }
                    });
  }

 private:
  /// A hot upper edge, a cold frame elsewhere, and an uneven plate.
  double initial(std::int64_t i, std::int64_t j) const final {
    if (i < 0) return 100;
    if (i == rows() || j < 0 || j == columns()) return 0;
    return 40 * hash_unit(seed(), static_cast<std::uint64_t>(i * columns() + j));
  }

  std::vector<double> serial() const {
    const std::int64_t wide = columns() + 2;
    std::vector<double> now, next;
    now.reserve(static_cast<std::size_t>(wide * (rows() + 2)));
    for (std::int64_t i = -1; i <= rows(); ++i) {
      for (std::int64_t j = -1; j <= columns(); ++j) now.push_back(initial(i, j));
    }
    next = now;
    for (std::int64_t t = 0; t < steps(); ++t) {
      for (std::int64_t c = wide; c < wide * (rows() + 1); ++c) {
        const std::int64_t column = c % wide;
        if (column == 0 || column == wide - 1) continue;
        const auto at = [&](std::int64_t cell) { return now[static_cast<std::size_t>(cell)]; };
        next[static_cast<std::size_t>(c)] =
            at(c) * weights_.here + (at(c - wide) + at(c - 1) + at(c + 1) + at(c + wide)) * weights_.side;
      }
      std::swap(now, next);
    }
    return now;
  }

  weights weights_;
  std::vector<double> expected_;
};

}  // namespace kith::apps
