// The random factor on a task's time, and the factor for remote data if memory is not modelled. Shared by the
// engine and loops.
#pragma once

#include "base/rng.hpp"
#include "engine/sim/memory.hpp"
#include "engine/sim/program.hpp"
#include "machine/model.hpp"

#include <cstdint>

namespace kith::sim {

/// The noise factor, in 1/1024; the same for a task under every policy.
inline std::uint64_t noise_of(const machine_model& m, std::uint64_t seed, std::int32_t task) noexcept {
  const double u = static_cast<double>(mix(seed ^ mix(static_cast<std::uint64_t>(task) + 1)) >> 11) * 0x1p-53;
  return static_cast<std::uint64_t>(1024 * (1 + m.noise * (2 * u - 1)));
}

/// Times are below 2^63, so they are converted as signed numbers, which takes one instruction.
inline double number(std::uint64_t x) noexcept { return static_cast<double>(static_cast<std::int64_t>(x)); }
inline picoseconds scaled(picoseconds time, double factor) noexcept {
  return static_cast<picoseconds>(static_cast<std::int64_t>(number(time) * factor));
}
/// Multiplies by a factor in 1/1024, which is below 2^20. Splits the time, because the whole product may exceed
/// 64 bits.
inline picoseconds by_factor(picoseconds time, std::uint64_t factor) noexcept {
  return (time >> 10) * factor + ((time & 1023) * factor >> 10);
}
/// The share of `work` that belongs to `part` of `whole` bytes.
inline picoseconds share_of(picoseconds work, std::uint64_t part, std::uint64_t whole) noexcept {
  return static_cast<picoseconds>(static_cast<std::int64_t>(number(work) * number(part) / number(whole)));
}

/// The part of a fetch's time that computing does not hide; all of it if the task is not calibrated.
inline picoseconds exposed_time(const program::exposure_factors& e, const fetched& got, picoseconds near) noexcept {
  if (!e.calibrated()) return got.took;
  return got.from == level::memory ? e.of_memory(got.took, near) : e.of_last(got.took, near);
}

/// How fast an idle core gets its data.
class data_rates {
 public:
  explicit data_rates(const machine_model& m) noexcept
      : private_bytes_(m.private_bytes), own_(m.private_gbs), last_(m.cache_gbs), memory_(m.core_gbs) {}

  /// The rate from the own node's memory.
  const rate& memory() const noexcept { return memory_; }
  /// The rate from the nearest cache that holds all of a task's data, else from the last level; this is what
  /// its kind took hot.
  const rate& nearest(std::uint64_t task_bytes) const noexcept {
    return private_bytes_ != 0 && task_bytes <= private_bytes_ ? own_ : last_;
  }
  /// What a task's data adds to its computing if all of it is in the own node's memory, on a core of speed 1.
  picoseconds local(std::uint64_t task_bytes, const program::exposure_factors& e) const noexcept {
    const picoseconds took = memory_(task_bytes);
    return e.calibrated() ? e.of_memory(took, nearest(task_bytes)(task_bytes)) : took;
  }

 private:
  std::uint64_t private_bytes_;
  rate own_, last_, memory_;
};

/// Stretches a factor by remote data; `far` is the remote share of what the task needs.
inline std::uint64_t stretched(const machine_model& m, std::uint64_t factor, double far) noexcept {
  const double stretch = 1 - m.memory_share + m.memory_share * (1 - far + far * m.remote_factor);
  return static_cast<std::uint64_t>(static_cast<double>(factor) * stretch);
}

}  // namespace kith::sim
