// The serial program against which places_md and its program by hand are verified. It keeps the molecules in the order
// of their numbers and adds up each pair once.
#pragma once

#include "md_box.hpp"
#include "worst.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {

inline std::vector<vector3> serial_forces(const std::vector<molecule>& all, int places) {
  std::vector<vector3> forces(all.size(), vector3{});
  std::vector<int> region(all.size());
  std::ranges::transform(
      all, region.begin(), [places](const vector3& at) { return box::region_of(at, places); }, &molecule::position);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (region[i] != region[j]) continue;
      double square = 0;
      for (std::size_t k = 0; k < 3; ++k) square += std::pow(all[i].position[k] - all[j].position[k], 2);
      const double distance = std::sqrt(square);
      if (distance >= range || distance == 0) continue;
      for (std::size_t k = 0; k < 3; ++k) {
        const double pull =
            2 * std::sin(distance) * std::cos(distance) * (all[i].position[k] - all[j].position[k]) / distance;
        forces[i][k] -= pull;
        forces[j][k] += pull;
      }
    }
  }
  return forces;
}

/// All molecules after the steps of the box, which is cut into `places` regions.
inline std::vector<molecule> serial_md(const box& b, int places) {
  std::vector<molecule> all;
  for (std::int64_t n = 0; n < b.molecules; ++n) all.push_back(b.initial(n));
  std::vector<vector3> forces = serial_forces(all, places);
  const auto accelerate = [&] {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) all[i].velocity[k] += forces[i][k] * time_step / 2;
    }
  };
  for (std::int64_t t = 0; t < b.iterations; ++t) {
    accelerate();
    for (molecule& m : all) {
      for (std::size_t k = 0; k < 3; ++k) {
        m.position[k] += m.velocity[k] * time_step;
        reflect(m.position[k], m.velocity[k]);
      }
    }
    forces = serial_forces(all, places);
    accelerate();
  }
  return all;
}

/// Compares the molecules of all places, in any order, with those of the serial program. Returns whether they
/// agree, and a text on what was compared.
inline std::pair<bool, std::string> check_md(const box& b, int places, std::vector<molecule> result,
                                             std::int64_t migrations) {
  std::ranges::sort(result, {}, &molecule::number);
  const std::vector<molecule> expected = serial_md(b, places);
  if (!std::ranges::equal(result, expected, {}, &molecule::number, &molecule::number))
    return {false, "the places together have other molecules than the box"};
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      worst = worst_of(worst, std::fabs(result[i].position[k] - expected[i].position[k]));
      worst = worst_of(worst, std::fabs(result[i].velocity[k] - expected[i].velocity[k]));
    }
  }
  char text[200];
  std::snprintf(text, sizeof text,
                "%zu molecules, %lld migrations between places: positions and velocities differ from the serial "
                "program's by at most %.2g (bound 1e-9)",
                expected.size(), static_cast<long long>(migrations), worst);
  return {worst <= 1e-9, text};
}

}  // namespace kith::apps
