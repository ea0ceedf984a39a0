// The time per byte of data of a task, by its type, near its data and away from it; and, from these, the cost of a
// theft between nodes.
//
// Thefts are kept apart by distance, in powers of two: a task's loss on the other socket says nothing about
// another machine.
#pragma once

#include "policy/auto/running_mean.hpp"
#include "policy/type_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace kith {

template <class World>
class task_times {
 public:
  /// Nanoseconds per byte from the own node's memory, for a task that does nothing else: 10 GB/s. Used until there are
  /// thefts, together with the assumption that d times the distance takes d times as long.
  static constexpr float memory_time = 0.1F;

  /// Adds a task of this type, with `bytes` of data, that ran where most of its data is.
  void ran_near(std::uint16_t type, std::uint64_t bytes, std::uint64_t nanoseconds) {
    type_statistics& of_type = types_[type];
    of_type.near.add(each(nanoseconds, bytes));
    of_type.time.add(static_cast<float>(nanoseconds));
  }
  /// Adds one that ran at this distance from most of its data (local: 10).
  void ran_far(std::uint16_t type, std::uint64_t bytes, std::uint64_t nanoseconds, int distance) {
    type_statistics& of_type = types_[type];
    const float near = of_type.near.get();
    if (near != unknown)
      of_type.more[doublings(distance)].add(std::max(each(nanoseconds, bytes) - near, least) / steps(distance));
  }

  /// Adds a task of this type with `bytes` of data: so many move between nodes if it runs away from them
  /// (placed_data.hpp).
  void note_traffic(std::uint16_t type, std::uint64_t bytes, std::uint64_t traffic) {
    types_[type].traffic.add(static_cast<float>(traffic) / static_cast<float>(bytes));
  }
  /// How often a byte of such a task moves then: 1 to 2.
  float traffic(std::uint16_t type) const {
    const float known = types_[type].traffic.get();
    return known != unknown ? known : 1;
  }

  /// The nanoseconds that such a task takes near its data; 0: not known.
  float time(std::uint16_t type) const { return types_[type].time.get(); }
  /// How much longer such a task takes at this distance from its data: 0: not at all; 1: twice as long.
  float longer(std::uint16_t type, int distance) const {
    const type_statistics& of_type = types_[type];
    const float near = of_type.near.get(), more = of_type.more[doublings(distance)].get();
    if (near == unknown) return steps(distance);
    return (more != unknown ? more : std::min(memory_time, near)) * steps(distance) / near;
  }

 private:
  static constexpr float unknown = 0, least = 1e-6F;

  struct type_statistics {
    running_mean<World> near;                 // nanoseconds per byte
    running_mean<World> time;                 // nanoseconds
    running_mean<World> traffic;              // of a byte
    std::array<running_mean<World>, 7> more;  // extra time for each step of distance
  };

  /// Never 0: even if memory is equally far from all nodes, caches are not.
  static float steps(int distance) noexcept { return static_cast<float>(std::max(distance - 10, 1)) / 10; }
  /// 0: less than a step; 1: less than two; 2: less than four; ...
  static std::size_t doublings(int distance) noexcept {
    return std::min<std::size_t>(std::bit_width(static_cast<unsigned>(std::max(distance - 10, 0)) / 10), 6);
  }
  static float each(std::uint64_t nanoseconds, std::uint64_t bytes) noexcept {
    return std::max(static_cast<float>(nanoseconds) / static_cast<float>(bytes), least);
  }

  type_table<type_statistics> types_;
};

}  // namespace kith
