// The largest deviation so far, for verifiers.
#pragma once

#include <cmath>

namespace kith::apps {

/// The larger of both, or NaN if one of them is NaN. A plain maximum would lose the NaN, and a wrong result
/// would pass.
inline double worst_of(double so_far, double deviation) noexcept {
  return std::isnan(so_far) || deviation <= so_far ? so_far : deviation;
}

}  // namespace kith::apps
