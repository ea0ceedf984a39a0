// The box of places_md: its molecules at the start, its walls, and which place has which part of it.
#pragma once

#include "hash.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace kith::apps {

using vector3 = std::array<double, 3>;

struct molecule {
  std::int64_t number = 0;
  vector3 position{}, velocity{};
};

constexpr double side = 10, time_step = 0.01;
constexpr double range = 1.5707963267948966;  // pi/2: molecules that are further apart do not feel each other

/// What every place must know.
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
  /// The place whose slice of the box this is in.
  static int region_of(const vector3& position, int places) noexcept {
    return std::clamp(static_cast<int>(position[0] / side * places), 0, places - 1);
  }
};

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

}  // namespace kith::apps
