// Reproducible pseudo-random numbers by position, so that any task can compute its part of an input
// independently. For the programs of this folder.
#pragma once

#include <cstdint>

namespace kith::apps {

/// Steele, Lea, Flood: "Fast splittable pseudorandom number generators" (2014), the output function of SplitMix64.
constexpr std::uint64_t hash(std::uint64_t seed, std::uint64_t position) noexcept {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15 + (position + 1) * 0xd1342543de82ef95;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// A hash in [0, 1).
constexpr double hash_unit(std::uint64_t seed, std::uint64_t position) noexcept {
  return static_cast<double>(hash(seed, position) >> 11) * 0x1p-53;
}

}  // namespace kith::apps
