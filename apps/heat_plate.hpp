// The plate of places_heat and of its program by hand: the initial cells, the stencil, and the serial program against
// which both are verified. It uses nothing of Kith, because the program by hand is linked to an MPI instead.
#pragma once

#include "hash.hpp"
#include "worst.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {

/// The problem, as every place needs it.
struct plate {
  std::int64_t rows, columns, leaf;
  std::uint64_t seed;

  /// A hot upper edge, a cold frame elsewhere, and an uneven plate.
  double initial(std::int64_t i, std::int64_t j) const noexcept {
    if (i < 0) return 100;
    if (i == rows || j < 0 || j == columns) return 0;
    return 40 * hash_unit(seed, static_cast<std::uint64_t>(i * columns + j));
  }
  std::int64_t wide() const noexcept { return columns + 2; }
  /// The first row of a place; for `places`, the end of the rows.
  std::int64_t first_row(int place, int places) const noexcept { return rows * place / places; }
};
constexpr double weight_here = 0.5, weight_side = 0.125;

/// All rows after that many steps, left and right border included, computed cell by cell in a loop that no
/// program shares.
inline std::vector<double> serial_heat(const plate& p, std::int64_t iterations) {
  const std::int64_t wide = p.wide();
  std::vector<double> now;
  for (std::int64_t i = -1; i <= p.rows; ++i) {
    for (std::int64_t j = -1; j <= p.columns; ++j) now.push_back(p.initial(i, j));
  }
  std::vector<double> next = now;
  for (std::int64_t t = 0; t < iterations; ++t) {
    for (std::int64_t c = wide; c < wide * (p.rows + 1); ++c) {
      if (c % wide == 0 || c % wide == wide - 1) continue;
      const auto cell = [&](std::int64_t k) { return now[static_cast<std::size_t>(k)]; };
      next[static_cast<std::size_t>(c)] =
          weight_here * cell(c) + weight_side * (cell(c - wide) + cell(c + wide) + cell(c - 1) + cell(c + 1));
    }
    std::swap(now, next);
  }
  return {now.begin() + wide, now.end() - wide};
}

/// Compares a result with that of the serial program. Returns whether they agree, and a text on what was compared.
inline std::pair<bool, std::string> check_heat(const plate& p, std::int64_t iterations,
                                               std::span<const double> result) {
  const std::vector<double> expected = serial_heat(p, iterations);
  if (result.size() != expected.size()) return {false, "the places have another number of cells than the plate"};
  double worst = 0;
  for (std::size_t c = 0; c < expected.size(); ++c) worst = worst_of(worst, std::fabs(result[c] - expected[c]));
  char text[160];
  std::snprintf(text, sizeof text,
                "%zu cells, left and right border included, differ from the serial program's by at most %.2g "
                "(bound 1e-9)",
                expected.size(), worst);
  return {worst <= 1e-9, text};
}

}  // namespace kith::apps
