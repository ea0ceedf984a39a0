// The data of a task that counts for its place: what it names, if it has at least a page.
#pragma once

#include "task/task.hpp"

#include <cstdint>

namespace kith {

/// A page: smaller data has no home of its own.
inline constexpr std::uint64_t least_placed = 4096;
inline bool has_home(std::uint64_t bytes) noexcept { return bytes >= least_placed; }
inline bool has_home(const kept_access& a) noexcept { return has_home(a.bytes()); }
/// The weight of an access's byte: of data that is read and written, and of all other.
inline constexpr std::uint64_t weight_of_changed = 2;
inline bool changes(mode how) noexcept { return how != mode::in && how != mode::out; }
inline std::uint64_t weight_of(mode how) noexcept { return changes(how) ? weight_of_changed : 1; }
/// The bytes of the task's data that can have a home. If 0, any node will do.
inline std::uint64_t placed_bytes(const task& t) noexcept {
  std::uint64_t sum = 0;
  for (kept_access a : t.access_list()) sum += has_home(a) ? a.bytes() : 0;
  return sum;
}

/// The bytes that move if the task runs away from its data: those that it reads and writes move there and back.
inline std::uint64_t traffic_bytes(const task& t) noexcept {
  std::uint64_t sum = 0;
  for (kept_access a : t.access_list()) sum += has_home(a) ? weight_of(a.how) * a.bytes() : 0;
  return sum;
}

}  // namespace kith
