#include "lower_tiles.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <string>

namespace kith::apps {

lower_tiles::lower_tiles(const char* app, const arguments& a)
    : app_(app), all_(app, a), seed_(a.seed()), data_(total(), all_.area()) {
  openblas_set_num_threads(1);
}

void lower_tiles::fill(const target& where, const tile_owner& owner, const task_type& type) const {
  where.run([&] {
    for (std::int64_t i = 0; i < count(); ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        spawn(
            [this, i, j] {
              double* const t = tile(i, j);
              for (std::int64_t c = 0; c < all_.edge; ++c) {
                for (std::int64_t r = 0; r < all_.edge; ++r)
                  t[r + c * all_.edge] = initial(i * all_.edge + r, j * all_.edge + c);
              }
            },
            type, owner(i, j), data_.out(index(i, j)), work{0});
      }
    }
  });
}

void lower_tiles::spawn_cholesky(const tile_owner& owner) const {
  static const task_type potrf{"potrf"}, trsm{"trsm"}, syrk{"syrk"}, gemm{"gemm"};
  const int n = static_cast<int>(all_.edge);
  for (std::int64_t k = 0; k < count(); ++k) {
    double* const kk = tile(k, k);
    spawn(
        [=, this] {
          const int wrong = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, kk, n);
          if (wrong == 0) return;
          throw error(std::string(app_) + ": the matrix is not positive definite at row " +
                      std::to_string(k * all_.edge + wrong - 1));
        },
        potrf, owner(k, k), priority::high, inout(k, k), flops(1.0 / 3));
    for (std::int64_t m = k + 1; m < count(); ++m) {
      double* const mk = tile(m, k);
      spawn(
          [=] { cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, n, 1, kk, n, mk, n); },
          trsm, owner(m, k), in(k, k), inout(m, k), flops(1));
    }
    for (std::int64_t i = k + 1; i < count(); ++i) {
      double *const ii = tile(i, i), *const ik = tile(i, k);
      spawn([=] { cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1, ik, n, 1, ii, n); }, syrk, owner(i, i),
            in(i, k), inout(i, i), flops(1));
      for (std::int64_t m = i + 1; m < count(); ++m) {
        double *const mk = tile(m, k), *const mi = tile(m, i);
        spawn([=] { cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, -1, mk, n, ik, n, 1, mi, n); }, gemm,
              owner(m, i), in(m, k), in(i, k), inout(m, i), flops(2));
      }
    }
  }
}

}  // namespace kith::apps
