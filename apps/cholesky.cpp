// cholesky: A = L * transpose(L) of a symmetric positive definite matrix in tiles, with OpenBLAS kernels.
//
// RIP paper, listing 1; regions are named by the addresses of the tiles. Property checked, without any BLAS:
//  C1  the largest entry of A - L * transpose(L) is at most n * epsilon * the largest entry of A, the bound that
//  rounding allows.
#include "hash.hpp"
#include "list.hpp"
#include "untouched.hpp"
#include "worst.hpp"

#include <cblas.h>
#include <lapacke.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace kith::apps {

namespace {

constexpr parameter parameters[] = {
    {"size", "2560", "512", "rows of the matrix; a multiple of the block"},
    {"block", "128", "64", "rows of a tile"},
};

class cholesky final : public app {
 public:
  explicit cholesky(const arguments& a)
      : size_(a.number("size", 1, 1 << 16)),
        block_(a.number("block", 1, 1 << 14)),
        tiles_(size_ / block_),
        seed_(a.seed()) {
    if (size_ % block_ != 0) {
      throw error("cholesky: --size " + std::to_string(size_) + " is no multiple of --block " + std::to_string(block_));
    }
    openblas_set_num_threads(1);  // the tasks are the parallelism
    data_ = make_untouched<double>(static_cast<std::size_t>(tiles_ * (tiles_ + 1) / 2 * area()));
  }

  void prepare(const target& where) override {
    static const task_type type{"cholesky_initial"};
    where.on.run([&] {
      for (std::int64_t i = 0; i < tiles_; ++i) {
        for (std::int64_t j = 0; j <= i; ++j)
          spawn([this, i, j] { fill(i, j); }, type, owner(where, i, j), out(tile(i, j), length()), work{0});
      }
    });
  }

  void solve(const target& where) override {
    static const task_type potrf{"potrf"}, trsm{"trsm"}, syrk{"syrk"}, gemm{"gemm"};
    const int n = static_cast<int>(block_);
    where.on.run([&] {
      for (std::int64_t k = 0; k < tiles_; ++k) {
        double* kk = tile(k, k);
        spawn([=, first = k * block_] { factorize(n, kk, first); }, potrf, owner(where, k, k), priority::high,
              inout(kk, length()), flops(1.0 / 3));
        for (std::int64_t m = k + 1; m < tiles_; ++m) {
          double* mk = tile(m, k);
          spawn(
              [=] {
                cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, n, 1, kk, n, mk, n);
              },
              trsm, owner(where, m, k), in(kk, length()), inout(mk, length()), flops(1));
        }
        for (std::int64_t i = k + 1; i < tiles_; ++i) {
          double *ii = tile(i, i), *ik = tile(i, k);
          spawn([=] { cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, n, -1, ik, n, 1, ii, n); }, syrk,
                owner(where, i, i), in(ik, length()), inout(ii, length()), flops(1));
          for (std::int64_t m = i + 1; m < tiles_; ++m) {
            double *mk = tile(m, k), *mi = tile(m, i);
            spawn([=] { cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, -1, mk, n, ik, n, 1, mi, n); },
                  gemm, owner(where, m, i), in(mk, length()), in(ik, length()), inout(mi, length()), flops(2));
          }
        }
      }
    });
  }

  verdict verify() override {
    // By rows, so that an entry of L * transpose(L) is the product of two of them.
    std::vector<double> rows(static_cast<std::size_t>(size_ * size_), 0);
    const auto row = [&](std::int64_t i) { return rows.data() + i * size_; };
    for (std::int64_t i = 0; i < size_; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) row(i)[j] = tile(i / block_, j / block_)[i % block_ + j % block_ * block_];
    }
    double worst = 0, largest = 0;
    for (std::int64_t i = 0; i < size_; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        double sum[4] = {0, 0, 0, 0};  // four at a time: additions need not wait for each other
        std::int64_t k = 0;
        for (; k + 3 <= j; k += 4) {
          for (int s = 0; s < 4; ++s) sum[s] += row(i)[k + s] * row(j)[k + s];
        }
        for (; k <= j; ++k) sum[0] += row(i)[k] * row(j)[k];
        worst = worst_of(worst, std::fabs(entry_at(i, j) - (sum[0] + sum[1] + sum[2] + sum[3])));
        largest = std::max(largest, std::fabs(entry_at(i, j)));
      }
    }
    const double bound = static_cast<double>(size_) * std::numeric_limits<double>::epsilon() * largest;
    char text[160];
    std::snprintf(text, sizeof text, "the largest entry of A - L * transpose(L) is %.2g (bound %.2g)", worst, bound);
    return {worst <= bound, text};
  }

  std::vector<figure> figures() const override { return {{"rows", size_}, {"tiles", tiles_ * (tiles_ + 1) / 2}}; }
  std::span<std::byte> output() override {
    return std::as_writable_bytes(std::span(data_.get(), static_cast<std::size_t>(tiles_ * (tiles_ + 1) / 2 * area())));
  }

 private:
  std::int64_t area() const noexcept { return block_ * block_; }
  std::size_t length() const noexcept { return static_cast<std::size_t>(area()); }
  /// The lower triangle alone, each tile by columns.
  /// What `cubes` times the cube of a tile's edge takes at 20 operations in a nanosecond.
  work flops(double cubes) const { return {cubes * static_cast<double>(block_ * block_ * block_) / 20}; }
  double* tile(std::int64_t i, std::int64_t j) noexcept { return data_.get() + (i * (i + 1) / 2 + j) * area(); }
  /// Rows of tiles dealt round robin.
  node owner(const target& where, std::int64_t i, std::int64_t) const noexcept {
    return {static_cast<int>(i % where.nodes)};
  }

  /// A diagonal that outweighs its row makes the matrix positive definite.
  double entry_at(std::int64_t i, std::int64_t j) const noexcept {
    if (i == j) return static_cast<double>(size_);
    return hash_unit(seed_, static_cast<std::uint64_t>(std::max(i, j) * size_ + std::min(i, j))) - 0.5;
  }

  void fill(std::int64_t i, std::int64_t j) {
    double* t = tile(i, j);
    for (std::int64_t c = 0; c < block_; ++c) {
      for (std::int64_t r = 0; r < block_; ++r) t[r + c * block_] = entry_at(i * block_ + r, j * block_ + c);
    }
  }

  static void factorize(int n, double* t, std::int64_t first) {
    const int wrong = LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, t, n);
    if (wrong != 0)
      throw error("cholesky: the matrix is not positive definite at row " + std::to_string(first + wrong - 1));
  }

  std::int64_t size_, block_, tiles_;
  std::uint64_t seed_;
  untouched<double> data_;
};

}  // namespace

const entry cholesky_entry = {"cholesky", "RIP", "tiled Cholesky factorization with OpenBLAS kernels", parameters,
                              make<cholesky>};

}  // namespace kith::apps
