// inversion: the inverse of a symmetric positive definite matrix in tiles, with OpenBLAS kernels. It
// factorises (A = L * L'), inverts the triangle (W = 1/L), and multiplies (1/A = W' * W). Each phase works
// in place, and none waits for the end of the one before.
//
// RIP paper, section 5.2 (symmetric matrix inversion, lower triangle). The expert placement lays a grid of
// nodes over the tiles, block cyclic in both directions, and a task runs where the tile is that it writes
// (the paper refers to another one for its annotations; --annotate columns has another placement).
// Window: the number of tiles of the triangle, which is exactly the tasks of prepare(); half of them stay.
// For a moving window that counts these separately, add as many as `first`. The paper does not print the
// size; 32 x 32 tiles of 256 rows are assumed. Property checked, without any BLAS:
//  S1  no entry of A * X - 1 is larger than n * epsilon, the bound for rounding with this well-conditioned A.
#include "dot.hpp"
#include "lower_tiles.hpp"
#include "worst.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <cmath>
#include <cstdio>
#include <limits>

namespace kith::apps {

namespace {

constexpr parameter inversion_parameters[] = {
    {"size", "1024", "384", "rows of the matrix; a multiple of the block", "8192"},
    {"block", "128", "64", "rows of a tile", "256"},
    {"annotate", "grid", "grid",
     "the nodes that tiles are annotated with: grid (block cyclic), or columns (neighbours)"},
};

class inversion final : public app {
 public:
  explicit inversion(const arguments& a) : tiles_("inversion", a), by_columns_(a.text("annotate") == "columns") {
    if (!by_columns_ && a.text("annotate") != "grid")
      throw error("inversion: --annotate '" + a.text("annotate") + "'; expected grid or columns");
  }

  void prepare(const target& where) override {
    static const task_type type{"inversion_initial"};
    tiles_.fill(where, owner(where), type);
  }

  void solve(const target& where) override {
    where.run([&] {
      const tile_owner at = owner(where);
      tiles_.spawn_cholesky(at);
      spawn_triangle(at);
      spawn_product(at);
    });
  }

  std::uint64_t verifying_bytes() const override {
    return 2 * sizeof(double) * static_cast<std::uint64_t>(tiles_.size() * tiles_.size());
  }
  verdict verify() override {
    const std::int64_t n = tiles_.size();
    const auto full = [n](auto&& value) {
      std::vector<double> rows(static_cast<std::size_t>(n * n));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j)
          rows[static_cast<std::size_t>(i * n + j)] = value(std::max(i, j), std::min(i, j));
      }
      return rows;
    };
    // Both are symmetric, so an entry of the product is that of two rows.
    const std::vector<double> a = full([this](auto i, auto j) { return tiles_.initial(i, j); });
    const std::vector<double> x = full([this](auto i, auto j) { return tiles_.held(i, j); });
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const double product = dot(a.data() + i * n, x.data() + j * n, n);
        worst = worst_of(worst, std::fabs(product - (i == j ? 1 : 0)));
      }
    }
    const double bound = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
    char text[160];
    std::snprintf(text, sizeof text, "the largest entry of A * X - 1 is %.2g (bound %.2g)", worst, bound);
    return {worst <= bound, text};
  }

  std::vector<figure> figures() const override {
    double trace = 0;
    for (std::int64_t i = 0; i < tiles_.size(); ++i) trace += tiles_.held(i, i);
    return {{"rows", tiles_.size()}, {"tiles", tiles_.total()}, {"trace_of_inverse", trace}};
  }
  std::span<std::byte> output() override { return tiles_.bytes(); }

 private:
  tile_owner owner(const target& where) const {
    if (by_columns_) return [&where, all = tiles_.count()](std::int64_t, std::int64_t j) { return where.of(j, all); };
    return [&where](std::int64_t i, std::int64_t j) { return where.cyclic(i, j); };
  }

  /// Replaces L by its inverse.
  void spawn_triangle(const tile_owner& at) const {
    static const task_type right{"trtri_trsm_right"}, left{"trtri_trsm_left"}, gemm{"trtri_gemm"}, trtri{"trtri"};
    const int e = static_cast<int>(tiles_.edge());
    const auto solve_with = [e](CBLAS_SIDE side, double factor, const double* l, double* b) {
      cblas_dtrsm(CblasColMajor, side, CblasLower, CblasNoTrans, CblasNonUnit, e, e, factor, l, e, b, e);
    };
    for (std::int64_t n = 0; n < tiles_.count(); ++n) {
      double* const nn = tiles_.tile(n, n);
      for (std::int64_t m = n + 1; m < tiles_.count(); ++m) {
        spawn([=, mn = tiles_.tile(m, n)] { solve_with(CblasRight, -1, nn, mn); }, right, at(m, n), tiles_.in(n, n),
              tiles_.inout(m, n), tiles_.flops(1));
      }
      for (std::int64_t m = n + 1; m < tiles_.count(); ++m) {
        for (std::int64_t k = 0; k < n; ++k) {
          spawn(
              [=, mn = tiles_.tile(m, n), nk = tiles_.tile(n, k), mk = tiles_.tile(m, k)] {
                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, e, e, e, 1, mn, e, nk, e, 1, mk, e);
              },
              gemm, at(m, k), tiles_.in(m, n), tiles_.in(n, k), tiles_.inout(m, k), tiles_.flops(2));
        }
      }
      for (std::int64_t m = 0; m < n; ++m) {
        spawn([=, nm = tiles_.tile(n, m)] { solve_with(CblasLeft, 1, nn, nm); }, left, at(n, m), tiles_.in(n, n),
              tiles_.inout(n, m), tiles_.flops(1));
      }
      spawn([=] { LAPACKE_dtrtri(LAPACK_COL_MAJOR, 'L', 'N', e, nn, e); }, trtri, at(n, n), tiles_.inout(n, n),
            tiles_.flops(1.0 / 3));
    }
  }

  /// Replaces W by the lower triangle of transpose(W) * W.
  void spawn_product(const tile_owner& at) const {
    static const task_type syrk{"lauum_syrk"}, gemm{"lauum_gemm"}, trmm{"trmm"}, lauum{"lauum"};
    const int e = static_cast<int>(tiles_.edge());
    for (std::int64_t m = 0; m < tiles_.count(); ++m) {
      double* const mm = tiles_.tile(m, m);
      for (std::int64_t n = 0; n < m; ++n) {
        spawn(
            [=, mn = tiles_.tile(m, n), nn = tiles_.tile(n, n)] {
              cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, e, e, 1, mn, e, 1, nn, e);
            },
            syrk, at(n, n), tiles_.in(m, n), tiles_.inout(n, n), tiles_.flops(1));
        for (std::int64_t k = n + 1; k < m; ++k) {
          spawn(
              [=, mk = tiles_.tile(m, k), mn = tiles_.tile(m, n), kn = tiles_.tile(k, n)] {
                cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, e, e, e, 1, mk, e, mn, e, 1, kn, e);
              },
              gemm, at(k, n), tiles_.in(m, k), tiles_.in(m, n), tiles_.inout(k, n), tiles_.flops(2));
        }
      }
      for (std::int64_t n = 0; n < m; ++n) {
        spawn(
            [=, mn = tiles_.tile(m, n)] {
              cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, e, e, 1, mm, e, mn, e);
            },
            trmm, at(m, n), tiles_.in(m, m), tiles_.inout(m, n), tiles_.flops(1));
      }
      spawn([=] { LAPACKE_dlauum(LAPACK_COL_MAJOR, 'L', e, mm, e); }, lauum, at(m, m), tiles_.inout(m, m),
            tiles_.flops(1.0 / 3));
    }
  }

  lower_tiles tiles_;
  bool by_columns_;
};

window_hint inversion_windows(const arguments& a) {
  const std::int64_t tiles = lower_tiles::total(square_tiles("inversion", a));
  return {.first = 0, .window = tiles, .intersection = tiles / 2, .initial = true};
}

}  // namespace

const entry inversion_entry = {
    "inversion",          "RIP",           "inverse of a symmetric positive definite matrix, in tiles",
    inversion_parameters, make<inversion>, false,
    inversion_windows};

}  // namespace kith::apps
