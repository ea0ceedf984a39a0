// Shared by the kinds whose sizes, costs or accesses differ from task to task: random draws, and blocks one by one.
#pragma once

#include "kinds.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace kith::bench {

inline double real(index n) { return static_cast<double>(n); }

/// A number from 0 up to 1.
inline double unit(std::mt19937& random) { return std::generate_canonical<double, 32>(random); }
/// A number from 0 up to n.
inline index below(std::mt19937& random, index n) { return static_cast<index>(random()) % n; }
/// The numbers from 0 up to n in random order.
inline std::vector<index> shuffled(std::mt19937& random, index n) {
  std::vector<index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (index i = n - 1; i > 0; --i) std::swap(order[i], order[below(random, i + 1)]);
  return order;
}

/// Blocks that are made, moved and given back while the program runs.
using owned = std::unique_ptr<blocks>;
inline owned make_blocks(index count, index bytes) { return std::make_unique<blocks>(count, bytes); }

/// The side of a triangle of about `blocks` blocks.
inline index triangle_side(index blocks) { return static_cast<index>(std::sqrt(2.0 * real(blocks))); }

}  // namespace kith::bench
