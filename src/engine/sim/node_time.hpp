// The random factor on a task's time, and how remoteness stretches it where memory is not modelled. One source for the
// engine and for loops.
#pragma once

#include "base/rng.hpp"
#include "machine/model.hpp"

#include <cstdint>

namespace kith::sim {

/// In 1/1024; the same for a task under every policy.
inline std::uint64_t noise_of(const machine_model& m, std::uint64_t seed, std::int32_t task) noexcept {
  const double u = static_cast<double>(mix(seed ^ mix(static_cast<std::uint64_t>(task) + 1)) >> 11) * 0x1p-53;
  return static_cast<std::uint64_t>(1024 * (1 + m.noise * (2 * u - 1)));
}

/// `far`: the share of what the task needs that is remote.
inline std::uint64_t stretched(const machine_model& m, std::uint64_t factor, double far) noexcept {
  const double by = 1 - m.memory_share + m.memory_share * (1 - far + far * m.remote_factor);
  return static_cast<std::uint64_t>(static_cast<double>(factor) * by);
}

}  // namespace kith::sim
