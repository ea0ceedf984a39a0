#include "cg_check.hpp"

#include "worst.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace kith::apps {

verdict cg_check::operator()(std::span<const matrix::entry> a, std::span<const double> b, std::int64_t iterations,
                             std::span<const double> z, std::span<const double> r) {
  if (expected_.empty()) solve(a, b, iterations);
  std::vector<double> residual(b.begin(), b.end());
  for (const matrix::entry& e : a) residual[e.row] -= e.value * z[e.column];
  double drift = 0, far = 0, size = 0, norm = 0, start = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    drift = worst_of(drift, std::fabs(residual[i] - r[i]));
    far = worst_of(far, std::fabs(z[i] - expected_[i]));
    size = std::max(size, std::fabs(expected_[i]));
    norm += r[i] * r[i];
    start += b[i] * b[i];
  }
  const double left = std::sqrt(norm / start), expected_left = std::sqrt(expected_rho_ / start);
  // On an ill-conditioned matrix, different orders of summation make two runs differ, but not by more than
  // both differ from the solution.
  const double bound = 1e-8 + 10 * expected_left;
  char text[260];
  std::snprintf(text, sizeof text,
                "the residual, computed anew, differs from the iteration's by at most %.2g (bound 1e-10); the "
                "solution from the serial program's by at most %.2g of its size (bound %.2g); the residual is %.3g "
                "of what it was (serial: %.3g)",
                drift, far / size, bound, left, expected_left);
  return {drift <= 1e-10 && far <= bound * size && std::fabs(left - expected_left) <= 1e-8 + expected_left / 2, text};
}

void cg_check::solve(std::span<const matrix::entry> a, std::span<const double> b, std::int64_t iterations) {
  const std::size_t n = b.size();
  std::vector<double> z(n, 0), r(b.begin(), b.end()), p = r, q(n);
  double rho = std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
  for (std::int64_t k = 0; k < iterations && rho != 0; ++k) {
    std::ranges::fill(q, 0);
    for (const matrix::entry& e : a) q[e.row] += e.value * p[e.column];
    const double along = rho / std::inner_product(p.begin(), p.end(), q.begin(), 0.0);
    for (std::size_t i = 0; i < n; ++i) z[i] += along * p[i];
    for (std::size_t i = 0; i < n; ++i) r[i] -= along * q[i];
    const double next = std::inner_product(r.begin(), r.end(), r.begin(), 0.0);
    for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / rho * p[i];
    rho = next;
  }
  expected_ = std::move(z);
  expected_rho_ = rho;
}

}  // namespace kith::apps
