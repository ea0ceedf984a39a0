// Random numbers that depend only on (seed, purpose, worker), so that a choice can be repeated.
#pragma once

#include <cstdint>

namespace kith {

/// Mixes 64 bits well (the finaliser of SplitMix64, Steele et al. 2014).
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// The purpose of a stream of random numbers. Streams with different purposes are independent.
enum class purpose : std::uint32_t { victim = 1, placement, pick, test };

class rng {
 public:
  constexpr rng(std::uint64_t seed, purpose why, std::uint32_t worker) noexcept
      : state_(mix(mix(seed) ^ (std::uint64_t{static_cast<std::uint32_t>(why)} << 32 | worker))) {}

  constexpr std::uint64_t next() noexcept { return mix(state_ += 0x9e3779b97f4a7c15u); }
  /// Uniform in 0..n-1 (bias below n/2^32). REQUIRES: n > 0.
  constexpr std::uint32_t below(std::uint32_t n) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace kith
