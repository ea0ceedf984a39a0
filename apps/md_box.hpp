// The box of places_md and of its program by hand: the initial molecules, the walls, the slices of the places, and the
// motion of a molecule. It uses nothing of Kith, because the program by hand is linked to an MPI instead.
#pragma once

#include "hash.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kith::apps {

using vector3 = std::array<double, 3>;

struct molecule {
  std::int64_t number = 0;
  vector3 position{}, velocity{};
};

constexpr double side = 10, time_step = 0.01;
constexpr double range = 1.5707963267948966;  // pi/2: molecules that are further apart exert no force

/// A molecule that has left the box is reflected by its wall.
inline void reflect(double& x, double& velocity) noexcept {
  if (x < 0) {
    x = -x;
    velocity = -velocity;
  } else if (x > side) {
    x = 2 * side - x;
    velocity = -velocity;
  }
}

/// The force of a region's molecules on one of them. The potential of a pair is sin(min(distance, pi/2))^2.
inline vector3 force_on(const molecule& m, std::span<const molecule> region) noexcept {
  vector3 sum{};
  for (const molecule& other : region) {
    const vector3 away{m.position[0] - other.position[0], m.position[1] - other.position[1],
                       m.position[2] - other.position[2]};
    const double square = away[0] * away[0] + away[1] * away[1] + away[2] * away[2];
    if (square >= range * range || square == 0) continue;  // 0: the molecule itself
    const double distance = std::sqrt(square), slope = std::sin(2 * distance) / distance;
    for (std::size_t k = 0; k < 3; ++k) sum[k] -= slope * away[k];
  }
  return sum;
}

/// The problem, as every place needs it.
struct box {
  std::int64_t molecules, iterations, leaf;
  std::uint64_t seed;

  molecule initial(std::int64_t number) const noexcept {
    molecule m{.number = number};
    for (std::size_t k = 0; k < 3; ++k) {
      m.position[k] = side * hash_unit(seed, static_cast<std::uint64_t>(number) * 3 + k);
      m.velocity[k] = 8 * hash_unit(seed + 1, static_cast<std::uint64_t>(number) * 3 + k) - 4;
    }
    return m;
  }
  /// The place whose slice of the box contains the position.
  static int region_of(const vector3& position, int places) noexcept {
    return std::clamp(static_cast<int>(position[0] / side * places), 0, places - 1);
  }
  /// Ends step `t` with the force at its end, and begins the next step with the same force, so that a step computes it
  /// once. Step 0 has no predecessor to end, and the last call begins no further step. The mass is 1.
  molecule advanced(molecule m, const vector3& force, std::int64_t t) const noexcept {
    const double ended = t > 0 ? time_step / 2 : 0, begun = t < iterations ? time_step / 2 : 0;
    for (std::size_t k = 0; k < 3; ++k) {
      m.velocity[k] += (ended + begun) * force[k];
      if (begun == 0) continue;
      m.position[k] += time_step * m.velocity[k];
      reflect(m.position[k], m.velocity[k]);
    }
    return m;
  }
};

}  // namespace kith::apps
