// The random factor on a task's time, and how remoteness stretches it where memory is not modelled. One source for the
// engine and for loops.
#pragma once

#include "base/rng.hpp"
#include "engine/sim/memory.hpp"
#include "engine/sim/program.hpp"
#include "machine/model.hpp"

#include <cstdint>

namespace kith::sim {

/// In 1/1024; the same for a task under every policy.
inline std::uint64_t noise_of(const machine_model& m, std::uint64_t seed, std::int32_t task) noexcept {
  const double u = static_cast<double>(mix(seed ^ mix(static_cast<std::uint64_t>(task) + 1)) >> 11) * 0x1p-53;
  return static_cast<std::uint64_t>(1024 * (1 + m.noise * (2 * u - 1)));
}

/// From the cache that holds all of a task's data, if one does: what its kind took hot.
inline rate nearest_rate(const machine_model& m, std::uint64_t task_bytes) noexcept {
  return rate(m.private_bytes != 0 && task_bytes <= m.private_bytes ? m.private_gbs : m.cache_gbs);
}

/// What of a fetch shows beside computing; all of it, where the task is not calibrated.
inline picoseconds shown_time(const program::shown& e, const fetched& got, picoseconds near) noexcept {
  if (!e.calibrated()) return got.took;
  return got.from == level::beyond ? e.of_memory(got.took, near) : e.of_last(got.took, near);
}

/// What a task's data adds to its computing where all of it is in the own, idle memory, on a core of speed 1.
inline picoseconds local_data_time(const program& p, const machine_model& m, std::size_t task) noexcept {
  const std::uint64_t bytes = p.bytes[task];
  const picoseconds took = rate(m.core_gbs)(bytes);
  const program::shown e = p.exposure_of(task);
  return e.calibrated() ? e.of_memory(took, nearest_rate(m, bytes)(bytes)) : took;
}

/// `far`: the share of what the task needs that is remote.
inline std::uint64_t stretched(const machine_model& m, std::uint64_t factor, double far) noexcept {
  const double by = 1 - m.memory_share + m.memory_share * (1 - far + far * m.remote_factor);
  return static_cast<std::uint64_t>(static_cast<double>(factor) * by);
}

}  // namespace kith::sim
