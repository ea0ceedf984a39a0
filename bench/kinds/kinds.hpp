// Shared by the files of kinds: the sizes of a program, and the list entry.
#pragma once

#include "blocks.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

namespace kith::bench {

struct sizes {
  index blocks, bytes, steps;
  double work;  // nanoseconds a byte
};
struct kind {
  const char* name;
  void (*spawn_all)(const sizes&);
};

/// Known algorithms, and loads that change.
std::span<const kind> algorithms() noexcept;

/// A generator with the same numbers in each run.
inline std::mt19937 numbers(unsigned seed) { return std::mt19937(seed); }
/// The side of a square of about `blocks` blocks.
inline index side_of(index blocks) { return std::max<index>(2, std::lround(std::sqrt(static_cast<double>(blocks)))); }
/// One task for each of the first n blocks.
inline void fill(const blocks& a, index n) {
  for (index i = 0; i < n; ++i) task("fill", 0.02 * a.bytes(), a.out(i));
}

}  // namespace kith::bench
