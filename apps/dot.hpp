// Inner products without a library, for verifiers.
#pragma once

#include <cstdint>

namespace kith::apps {

/// Keeps four sums, so that additions need not wait for each other.
inline double dot(const double* x, const double* y, std::int64_t count) noexcept {
  double sum[4] = {0, 0, 0, 0};
  std::int64_t k = 0;
  for (; k + 3 < count; k += 4) {
    for (int s = 0; s < 4; ++s) sum[s] += x[k + s] * y[k + s];
  }
  for (; k < count; ++k) sum[0] += x[k] * y[k];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

}  // namespace kith::apps
