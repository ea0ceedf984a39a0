// The verifier of conjugate gradients: a serial program on the list of entries, with whole vectors. For cg
// and cg_tasks. Properties checked:
//  C1  b - A z, computed anew from the list of entries, equals the residual that the iteration updates;
//  C2  z and the residual's norm equal those of the serial program; the bound is tighter the more the
//      residual has dropped.
#pragma once

#include "app.hpp"
#include "matrix_market.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::apps {

class cg_check {
 public:
  /// Checks whether z and r are the results of `iterations` iterations from zero on A z = b. The serial
  /// solution is kept, so one object must be used for one problem only.
  verdict operator()(std::span<const matrix::entry> a, std::span<const double> b, std::int64_t iterations,
                     std::span<const double> z, std::span<const double> r);

 private:
  void solve(std::span<const matrix::entry> a, std::span<const double> b, std::int64_t iterations);

  std::vector<double> expected_;
  double expected_rho_ = 0;
};

}  // namespace kith::apps
