// qr: A = Q * R in tiles, with LAPACK kernels. Householder reflectors are stored in place of the entries that
// they cancel.
//
// RIP paper, section 5.2 (the tiled algorithm of Buttari and others). Step k factorises the diagonal tile
// and applies the result to the tiles to its right. Then it couples the triangle with each tile below, and
// applies that. The reflectors of the diagonal tile are copied to a block of their own. Otherwise each
// coupling, which writes the triangle beside them, would wait for the tasks that apply them. The expert
// placement deals rows of tiles round robin; a task runs where most of its tiles are. Window: the number of
// tiles, which is exactly the tasks of prepare(); two rows of tiles stay. For a moving window that counts
// these separately, add as many as `first`. The paper does not print the size; 24 x 24 tiles of 256 rows
// are assumed. Property checked, with only the reflectors (their factors follow from them) and no LAPACK:
//  Q1  no entry of A - Q * R is larger than n * epsilon.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "square_tiles.hpp"
#include "worst.hpp"

#include <cblas.h>
#include <lapacke.h>

#include <cmath>
#include <cstdio>
#include <limits>

namespace kith::apps {

namespace {

constexpr parameter qr_parameters[] = {
    {"size", "768", "256", "rows and columns of the matrix; a multiple of the block", "6144"},
    {"block", "128", "64", "rows and columns of a tile", "256"},
    {"inner", "32", "16", "columns that a kernel takes together"},
};

class qr final : public app {
 public:
  explicit qr(const arguments& a)
      : all_("qr", a),
        inner_(a.number("inner", 1, all_.edge)),
        seed_(a.seed()),
        tiles_(all_.total(), all_.area()),
        factors_(all_.total(), inner_ * all_.edge),
        reflectors_(all_.count(), all_.area()) {
    openblas_set_num_threads(1);  // the tasks are the parallelism
  }

  void prepare(const target& where) override {
    static const task_type type{"qr_initial"};
    where.run([&] {
      for (std::int64_t i = 0; i < count(); ++i) {
        for (std::int64_t j = 0; j < count(); ++j)
          spawn([this, i, j] { fill(i, j); }, type, where.turn(i), tiles_.out(at(i, j)), work{0});
      }
    });
  }

  void solve(const target& where) override {
    static const task_type geqrt{"geqrt"}, ormqr{"ormqr"}, tsqrt{"tsqrt"}, tsmqr{"tsmqr"};
    where.run([&] {
      for (std::int64_t k = 0; k < count(); ++k) {
        spawn([=, this] { factorise(k); }, geqrt, where.turn(k), tiles_.inout(at(k, k)), factors_.out(at(k, k)),
              reflectors_.out(k), flops(4.0 / 3));
        for (std::int64_t n = k + 1; n < count(); ++n) {
          spawn([=, this] { apply(k, n); }, ormqr, where.turn(k), reflectors_.in(k), factors_.in(at(k, k)),
                tiles_.inout(at(k, n)), flops(2));
        }
        for (std::int64_t m = k + 1; m < count(); ++m) {
          spawn([=, this] { couple(m, k); }, tsqrt, where.turn(m), tiles_.inout(at(k, k)).touching(triangle()),
                tiles_.inout(at(m, k)), factors_.out(at(m, k)), flops(2));
          for (std::int64_t n = k + 1; n < count(); ++n) {
            spawn([=, this] { apply(m, n, k); }, tsmqr, where.turn(m), tiles_.in(at(m, k)), factors_.in(at(m, k)),
                  tiles_.inout(at(k, n)), tiles_.inout(at(m, n)), flops(4));
          }
        }
      }
    });
  }

  std::uint64_t verifying_bytes() const override {
    return sizeof(double) * static_cast<std::uint64_t>(all_.size * all_.size);
  }
  verdict verify() override {
    std::vector<double> product = triangle_by_columns();
    const auto column = [&](std::int64_t c) { return product.data() + c * all_.size; };
    // Q is the product of the reflectors in the order in which they were made, so the last one is applied to R first.
    for (std::int64_t k = count() - 1; k >= 0; --k) {
      for (std::int64_t m = count() - 1; m >= k; --m) {
        for (std::int64_t i = all_.edge - 1; i >= 0; --i) {
          const std::int64_t skipped = m == k ? i + 1 : 0;  // entries of the tile's column above the reflector
          const double* const v = tiles_[at(m, k)] + i * all_.edge + skipped;
          const std::int64_t length = all_.edge - skipped, head = k * all_.edge + i, tail = m * all_.edge + skipped;
          double squares = 0;
          for (std::int64_t r = 0; r < length; ++r) squares += v[r] * v[r];
          if (squares == 0) continue;  // nothing was cancelled
          for (std::int64_t c = k * all_.edge; c < all_.size; ++c) {
            double* const x = column(c);
            double along = x[head];
            for (std::int64_t r = 0; r < length; ++r) along += v[r] * x[tail + r];
            along *= 2 / (1 + squares);
            x[head] -= along;
            for (std::int64_t r = 0; r < length; ++r) x[tail + r] -= along * v[r];
          }
        }
      }
    }
    double worst = 0;
    for (std::int64_t c = 0; c < all_.size; ++c) {
      for (std::int64_t r = 0; r < all_.size; ++r) worst = worst_of(worst, std::fabs(column(c)[r] - initial(r, c)));
    }
    const double bound = static_cast<double>(all_.size) * std::numeric_limits<double>::epsilon();
    char text[160];
    std::snprintf(text, sizeof text, "the largest entry of A - Q * R is %.2g (bound %.2g)", worst, bound);
    return {worst <= bound, text};
  }

  std::vector<figure> figures() const override {
    double logarithm = 0;
    for (std::int64_t k = 0; k < count(); ++k) {
      for (std::int64_t i = 0; i < all_.edge; ++i)
        logarithm += std::log10(std::fabs(tiles_[at(k, k)][i * all_.edge + i]));
    }
    return {{"rows", all_.size}, {"tiles", all_.total()}, {"log10_of_determinant", logarithm}};
  }
  std::span<std::byte> output() override { return tiles_.bytes(); }

 private:
  std::int64_t count() const noexcept { return all_.count(); }
  std::int64_t at(std::int64_t i, std::int64_t j) const noexcept { return i * count() + j; }
  std::size_t triangle() const noexcept {
    return static_cast<std::size_t>(all_.edge * (all_.edge + 1) / 2) * sizeof(double);
  }
  /// The work of `cubes` times the cube of a tile's edge; `inner` is small compared with the edge.
  work flops(double cubes) const { return work_of(cubes * all_.volume(), rate::dense); }
  double initial(std::int64_t i, std::int64_t j) const noexcept {
    return hash_unit(seed_, static_cast<std::uint64_t>(i * all_.size + j)) - 0.5;
  }
  void fill(std::int64_t i, std::int64_t j) const noexcept {
    double* const t = tiles_[at(i, j)];
    for (std::int64_t c = 0; c < all_.edge; ++c) {
      for (std::int64_t r = 0; r < all_.edge; ++r) t[r + c * all_.edge] = initial(i * all_.edge + r, j * all_.edge + c);
    }
  }

  void factorise(std::int64_t k) const {
    const int e = static_cast<int>(all_.edge), b = static_cast<int>(inner_);
    done(LAPACKE_dgeqrt(LAPACK_COL_MAJOR, e, e, b, tiles_[at(k, k)], e, factors_[at(k, k)], b), "geqrt");
    std::copy_n(tiles_[at(k, k)], tiles_.length(), reflectors_[k]);
  }
  void apply(std::int64_t k, std::int64_t n) const {
    const int e = static_cast<int>(all_.edge), b = static_cast<int>(inner_);
    done(LAPACKE_dgemqrt(LAPACK_COL_MAJOR, 'L', 'T', e, e, e, b, reflectors_[k], e, factors_[at(k, k)], b,
                         tiles_[at(k, n)], e),
         "gemqrt");
  }
  void couple(std::int64_t m, std::int64_t k) const {
    const int e = static_cast<int>(all_.edge), b = static_cast<int>(inner_);
    done(LAPACKE_dtpqrt(LAPACK_COL_MAJOR, e, e, 0, b, tiles_[at(k, k)], e, tiles_[at(m, k)], e, factors_[at(m, k)], b),
         "tpqrt");
  }
  void apply(std::int64_t m, std::int64_t n, std::int64_t k) const {
    const int e = static_cast<int>(all_.edge), b = static_cast<int>(inner_);
    done(LAPACKE_dtpmqrt(LAPACK_COL_MAJOR, 'L', 'T', e, e, e, 0, b, tiles_[at(m, k)], e, factors_[at(m, k)], b,
                         tiles_[at(k, n)], e, tiles_[at(m, n)], e),
         "tpmqrt");
  }
  static void done(int wrong, const char* kernel) {
    if (wrong != 0) throw error(std::string("qr: LAPACK's ") + kernel + " returned " + std::to_string(wrong));
  }

  /// R, with zeros below the diagonal.
  std::vector<double> triangle_by_columns() const {
    std::vector<double> all(static_cast<std::size_t>(all_.size * all_.size), 0);
    for (std::int64_t c = 0; c < all_.size; ++c) {
      for (std::int64_t r = 0; r <= c; ++r) {
        all[static_cast<std::size_t>(c * all_.size + r)] =
            tiles_[at(r / all_.edge, c / all_.edge)][r % all_.edge + c % all_.edge * all_.edge];
      }
    }
    return all;
  }

  square_tiles all_;
  std::int64_t inner_;
  std::uint64_t seed_;
  paged<double> tiles_;       // each tile by columns
  paged<double> factors_;     // of the reflectors in each tile of the lower triangle
  paged<double> reflectors_;  // copies of the diagonal tiles
};

window_hint qr_windows(const arguments& a) {
  const square_tiles all("qr", a);
  return {.first = 0,
          .window = all.total(),
          .intersection = std::min<std::int64_t>(2, all.count()) * all.count(),
          .initial = true};
}

}  // namespace

const entry qr_entry = {"qr",  "RIP",     "tiled QR factorisation with LAPACK kernels", qr_parameters, make<qr>,
                        false, qr_windows};

}  // namespace kith::apps
