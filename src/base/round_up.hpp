// Sizes in whole units: pages, huge pages, sets of a cache.
#pragma once

#include <cstdint>

namespace kith {

/// The least multiple of `unit` that is not below `n`. REQUIRES: unit is not 0, and n + unit fits 64 bits.
constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) noexcept { return (n + unit - 1) / unit * unit; }

}  // namespace kith
