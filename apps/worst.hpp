// For verifiers: the largest deviation so far.
#pragma once

#include <cmath>

namespace kith::apps {

/// The larger of both, or NaN if one of them is: a plain maximum loses it, and a wrong result passes.
inline double worst_of(double so_far, double deviation) noexcept {
  return std::isnan(so_far) || deviation <= so_far ? so_far : deviation;
}

}  // namespace kith::apps
