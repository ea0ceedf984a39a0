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

/// Kinds on which the policy was tuned.
std::span<const kind> tuned_on() noexcept;
/// Data that is initialised in other pieces than it is used. filled_stencil is in no set.
std::span<const kind> initialisation() noexcept;
/// Known algorithms, and loads that change.
std::span<const kind> algorithms() noexcept;

// Kinds by field. They were written to differ from those above: the policy was judged on them before it was tuned on
// any.
std::span<const kind> linear_algebra() noexcept;
std::span<const kind> simulation_codes() noexcept;
std::span<const kind> data_processing() noexcept;
std::span<const kind> machine_learning() noexcept;
std::span<const kind> searching_and_sorting() noexcept;
std::span<const kind> streams() noexcept;

/// A generator with the same numbers in each run.
inline std::mt19937 numbers(unsigned seed) { return std::mt19937(seed); }
/// The side of a square of about `blocks` blocks.
inline index side_of(index blocks) { return std::max<index>(2, std::lround(std::sqrt(static_cast<double>(blocks)))); }
/// One task for each of the first n blocks.
inline void fill(const blocks& a, index n, const char* type = "fill") {
  for (index i = 0; i < n; ++i) task(type, 0.02 * a.bytes(), a.out(i));
}

}  // namespace kith::bench
