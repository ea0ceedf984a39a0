// The CG problem of the NAS Parallel Benchmarks (NPB 3, CG): classes, the matrix, and the printed results. For
// places_cg and its program by hand.
//
// "The NAS Parallel Benchmarks", report RNR-94-007, section 2.3; the matrix and the random numbers are those of NPB's
// makea and randlc, value by value, because the printed results hold for no other matrix.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::apps {

struct npb_cg_class {
  char name;
  std::int64_t rows, nonzeros;  // nonzeros: of each random vector that the matrix is made of
  std::int64_t iterations;
  double shift, zeta;  // zeta: the result that NPB prints
};
/// Iterations of conjugate gradients in each outer iteration.
constexpr int npb_cg_inner_iterations = 25;
/// Throws kith::error for an unknown class.
const npb_cg_class& npb_cg_class_of(const std::string& name);

/// Rows [first, first + count) of the matrix, in compressed form.
struct npb_rows {
  std::vector<std::size_t> begin;  // by row: where its entries begin; one more at the end
  std::vector<std::uint32_t> columns;
  std::vector<double> values;
};
/// Makes rows [first, last). Cost: all random vectors of the class are drawn, whatever the rows.
npb_rows make_npb_rows(const npb_cg_class& c, std::int64_t first, std::int64_t last);

/// Compares a result with NPB's. Returns whether they agree, and a text on what was compared. `residual`: the
/// last norm.
std::pair<bool, std::string> check_npb_cg(const npb_cg_class& c, double zeta, double residual);

}  // namespace kith::apps
