// matmul: C = A * B in tiles, with OpenBLAS's kernel; one task for each combination of three tiles.
//
// MIR paper's pattern programs (4096 x 4096 in blocks of 128, each a block of its own). The expert
// placement lays a grid of nodes over the tiles, block cyclic in both directions; a task runs where its
// tile of C is. Property checked, without BLAS:
//  M1  no entry is further from the serial product than n * epsilon.
#include "dot.hpp"
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "square_tiles.hpp"
#include "worst.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace kith::apps {

namespace {

constexpr parameter matmul_parameters[] = {
    {"size", "1024", "256", "rows and columns; a multiple of the block", "4096"},
    {"block", "128", "64", "rows and columns of a tile", "128"},
};

class matmul final : public app {
 public:
  explicit matmul(const arguments& a)
      : all_("matmul", a),
        seed_(a.seed()),
        a_(all_.total(), all_.area()),
        b_(all_.total(), all_.area()),
        c_(all_.total(), all_.area()) {
    openblas_set_num_threads(1);  // the tasks are the parallelism
  }

  void prepare(const target& where) override {
    static const task_type type{"matmul_initial"};
    where.on.run([&] {
      for (std::int64_t i = 0; i < count(); ++i) {
        for (std::int64_t j = 0; j < count(); ++j) {
          const std::int64_t t = at(i, j);
          spawn([=, this] { fill(i, j); }, type, where.cyclic(i, j), a_.out(t), b_.out(t), c_.out(t), work{0});
        }
      }
    });
  }

  void solve(const target& where) override {
    static const task_type type{"matmul"};
    const work cost = work_of(2 * all_.volume(), rate::dense);
    where.on.run([&] {
      for (std::int64_t k = 0; k < count(); ++k) {
        for (std::int64_t i = 0; i < count(); ++i) {
          for (std::int64_t j = 0; j < count(); ++j) {
            spawn(
                [n = static_cast<int>(all_.edge), x = a_[at(i, k)], y = b_[at(k, j)], z = c_[at(i, j)]] {
                  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, x, n, y, n, 1, z, n);
                },
                type, where.cyclic(i, j), a_.in(at(i, k)), b_.in(at(k, j)), c_.inout(at(i, j)), cost);
          }
        }
      }
    });
  }

  std::uint64_t verifying_bytes() const override {
    return sizeof(double) * static_cast<std::uint64_t>(all_.size * all_.size);
  }
  verdict verify() override {
    std::vector<double> row(static_cast<std::size_t>(all_.size)),
        columns(static_cast<std::size_t>(all_.size * all_.size));
    for (std::int64_t j = 0; j < all_.size; ++j) {
      for (std::int64_t i = 0; i < all_.size; ++i)
        columns[static_cast<std::size_t>(j * all_.size + i)] = factor(1, i, j);
    }
    double worst = 0;
    for (std::int64_t i = 0; i < all_.size; ++i) {
      for (std::int64_t k = 0; k < all_.size; ++k) row[static_cast<std::size_t>(k)] = factor(0, i, k);
      for (std::int64_t j = 0; j < all_.size; ++j) {
        const double is = c_[at(i / all_.edge, j / all_.edge)][i % all_.edge * all_.edge + j % all_.edge];
        worst = worst_of(worst, std::fabs(is - dot(row.data(), columns.data() + j * all_.size, all_.size)));
      }
    }
    const double bound = static_cast<double>(all_.size) * std::numeric_limits<double>::epsilon();
    char text[160];
    std::snprintf(text, sizeof text, "entries differ from the serial product by at most %.2g (bound %.2g)", worst,
                  bound);
    return {worst <= bound, text};
  }

  std::vector<figure> figures() const override {
    double trace = 0;
    for (std::int64_t i = 0; i < all_.size; ++i)
      trace += c_[at(i / all_.edge, i / all_.edge)][i % all_.edge * (all_.edge + 1)];
    return {{"rows", all_.size}, {"tiles", all_.total()}, {"trace", trace}};
  }
  std::span<std::byte> output() override { return c_.bytes(); }

 private:
  std::int64_t count() const noexcept { return all_.count(); }
  std::int64_t at(std::int64_t i, std::int64_t j) const noexcept { return i * count() + j; }
  double factor(std::uint64_t which, std::int64_t i, std::int64_t j) const noexcept {
    return hash_unit(seed_ + which, static_cast<std::uint64_t>(i * all_.size + j)) - 0.5;
  }
  void fill(std::int64_t i, std::int64_t j) const noexcept {
    for (std::int64_t r = 0; r < all_.edge; ++r) {
      for (std::int64_t c = 0; c < all_.edge; ++c) {
        a_[at(i, j)][r * all_.edge + c] = factor(0, i * all_.edge + r, j * all_.edge + c);
        b_[at(i, j)][r * all_.edge + c] = factor(1, i * all_.edge + r, j * all_.edge + c);
        c_[at(i, j)][r * all_.edge + c] = 0;
      }
    }
  }

  square_tiles all_;
  std::uint64_t seed_;
  paged<double> a_, b_, c_;  // tiles by rows, each tile by rows
};

}  // namespace

const entry matmul_entry = {"matmul", "MIR", "product of two matrices in tiles, with OpenBLAS's kernel",
                            matmul_parameters, make<matmul>};

}  // namespace kith::apps
