// sparse_lu: A = L * U for a matrix of blocks, many of which are zero and stay zero; without pivoting.
//
// MIR paper's pattern programs (8192 x 8192 in blocks of 256, each a block of its own). Which zero blocks
// fill up is determined beforehand, and tasks are made only for blocks that are not zero in the end. The
// expert placement lays a grid of nodes over the blocks, block cyclic in both directions; a task runs where
// the block is that it writes. The matrix is generated: neighbours of the diagonal and a share of the other
// blocks, with a diagonal that outweighs each row. Property checked:
//  L1  the largest entry of A - L * U is at most n * epsilon * the largest entry of A.
#include "dot.hpp"
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "square_tiles.hpp"
#include "worst.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace kith::apps {

namespace {

constexpr parameter sparse_lu_parameters[] = {
    {"size", "1024", "256", "rows and columns; a multiple of the block", "8192"},
    {"block", "64", "32", "rows and columns of a block", "256"},
    {"density", "20", "20", "of 100 blocks, how many are not zero at first"},
    {"intense", flag, flag, "with joined: tasks declare only the block that they change (MIR's hint)"},
    {"joined", flag, flag, "each kind of task ends before the next one begins, as in the paper"},
};

class sparse_lu final : public app {
 public:
  explicit sparse_lu(const arguments& a)
      : all_("sparse_lu", a),
        density_(a.number("density", 0, 100)),
        joined_(a.on("joined")),
        intense_(a.on("intense")),
        seed_(a.seed()),
        data_(number_blocks(), all_.area()) {
    if (intense_ && !joined_)
      throw error("sparse_lu: --intense leaves out what tasks read, so waits must order them; expected --joined, too",
                  error_kind::setting);
  }

  void prepare(const target& where) override {
    static const task_type type{"sparse_lu_initial"};
    where.on.run([&] {
      for (std::int64_t i = 0; i < count(); ++i) {
        for (std::int64_t j = 0; j < count(); ++j) {
          if (holds(i, j)) spawn([=, this] { fill(i, j); }, type, where.cyclic(i, j), data_.out(at(i, j)), work{0});
        }
      }
    });
  }

  void solve(const target& where) override {
    static const task_type diagonal{"lu0"}, row{"fwd"}, column{"bdiv"}, rest{"bmod"};
    where.on.run([&] {
      for (std::int64_t k = 0; k < count(); ++k) {
        spawn([=, this] { factorise(block(k, k)); }, diagonal, where.cyclic(k, k), data_.inout(at(k, k)),
              flops(2.0 / 3));
        if (joined_) wait();
        for (std::int64_t j = k + 1; j < count(); ++j) {
          if (!holds(k, j)) continue;
          if (intense_)
            spawn([=, this] { solve_lower(block(k, k), block(k, j)); }, row, where.cyclic(k, j), data_.inout(at(k, j)),
                  flops(1));
          else
            spawn([=, this] { solve_lower(block(k, k), block(k, j)); }, row, where.cyclic(k, j), data_.in(at(k, k)),
                  data_.inout(at(k, j)), flops(1));
        }
        for (std::int64_t i = k + 1; i < count(); ++i) {
          if (!holds(i, k)) continue;
          if (intense_)
            spawn([=, this] { solve_upper(block(k, k), block(i, k)); }, column, where.cyclic(i, k),
                  data_.inout(at(i, k)), flops(1));
          else
            spawn([=, this] { solve_upper(block(k, k), block(i, k)); }, column, where.cyclic(i, k), data_.in(at(k, k)),
                  data_.inout(at(i, k)), flops(1));
        }
        if (joined_) wait();
        for (std::int64_t i = k + 1; i < count(); ++i) {
          for (std::int64_t j = k + 1; j < count(); ++j) {
            if (!holds(i, k) || !holds(k, j)) continue;
            if (intense_)
              spawn([=, this] { subtract(block(i, k), block(k, j), block(i, j)); }, rest, where.cyclic(i, j),
                    data_.inout(at(i, j)), flops(2));
            else
              spawn([=, this] { subtract(block(i, k), block(k, j), block(i, j)); }, rest, where.cyclic(i, j),
                    data_.in(at(i, k)), data_.in(at(k, j)), data_.inout(at(i, j)), flops(2));
          }
        }
        if (joined_) wait();
      }
    });
  }

  std::uint64_t verifying_bytes() const override {
    return 2 * sizeof(double) * static_cast<std::uint64_t>(all_.size * all_.size);
  }
  verdict verify() override {
    // L by rows and U by columns, both including zeros.
    const auto n = static_cast<std::size_t>(all_.size);
    std::vector<double> lower(n * n, 0), upper(n * n, 0);
    for (std::int64_t i = 0; i < all_.size; ++i) {
      for (std::int64_t j = 0; j < all_.size; ++j) {
        const double x = held(i, j);
        (j < i ? lower[static_cast<std::size_t>(i * all_.size + j)]
               : upper[static_cast<std::size_t>(j * all_.size + i)]) = x;
      }
      lower[static_cast<std::size_t>(i * all_.size + i)] = 1;
    }
    double worst = 0;
    for (std::int64_t i = 0; i < all_.size; ++i) {
      for (std::int64_t j = 0; j < all_.size; ++j) {
        const double product = dot(lower.data() + i * all_.size, upper.data() + j * all_.size, std::min(i, j) + 1);
        worst = worst_of(worst, std::fabs(product - initial(i, j)));
      }
    }
    const double bound = static_cast<double>(all_.size) * std::numeric_limits<double>::epsilon() * initial(0, 0);
    char text[160];
    std::snprintf(text, sizeof text, "the largest entry of A - L * U is %.2g (bound %.2g)", worst, bound);
    return {worst <= bound, text};
  }

  std::vector<figure> figures() const override {
    std::int64_t first = 0, all = 0;
    for (std::int64_t i = 0; i < count(); ++i) {
      for (std::int64_t j = 0; j < count(); ++j) {
        first += starts_with(i, j);
        all += holds(i, j);
      }
    }
    return {{"rows", all_.size}, {"blocks", all_.total()}, {"blocks_at_first", first}, {"blocks_at_last", all}};
  }
  std::span<std::byte> output() override { return data_.bytes(); }

 private:
  std::int64_t count() const noexcept { return all_.count(); }
  work flops(double cubes) const { return work_of(cubes * all_.volume(), rate::streamed); }

  /// True if the matrix has entries in block (i, j) at the start.
  bool starts_with(std::int64_t i, std::int64_t j) const noexcept {
    const auto index = static_cast<std::uint64_t>(i * count() + j);
    return std::abs(i - j) <= 1 || static_cast<std::int64_t>(hash(seed_ + 1, index) % 100) < density_;
  }
  /// Numbers the blocks that are not zero in the end. Returns how many there are.
  std::int64_t number_blocks() {
    const auto n = count();
    indices_.assign(static_cast<std::size_t>(n * n), -1);
    const auto index = [&](std::int64_t i, std::int64_t j) -> std::int64_t& {
      return indices_[static_cast<std::size_t>(i * n + j)];
    };
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) index(i, j) = starts_with(i, j) ? 0 : -1;
    }
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t i = k + 1; i < n; ++i) {
        for (std::int64_t j = k + 1; j < n; ++j) {
          if (index(i, k) == 0 && index(k, j) == 0) index(i, j) = 0;
        }
      }
    }
    std::int64_t blocks = 0;
    for (std::int64_t& p : indices_) {
      if (p == 0) p = blocks++;
    }
    return blocks;
  }
  std::int64_t at(std::int64_t i, std::int64_t j) const noexcept {
    return indices_[static_cast<std::size_t>(i * count() + j)];
  }
  bool holds(std::int64_t i, std::int64_t j) const noexcept { return at(i, j) >= 0; }
  double* block(std::int64_t i, std::int64_t j) const noexcept { return data_[at(i, j)]; }
  double held(std::int64_t i, std::int64_t j) const noexcept {
    return holds(i / all_.edge, j / all_.edge)
               ? block(i / all_.edge, j / all_.edge)[i % all_.edge * all_.edge + j % all_.edge]
               : 0;
  }
  double initial(std::int64_t i, std::int64_t j) const noexcept {
    if (i == j) return static_cast<double>(all_.size);
    if (!starts_with(i / all_.edge, j / all_.edge)) return 0;
    return hash_unit(seed_, static_cast<std::uint64_t>(i * all_.size + j)) - 0.5;
  }
  void fill(std::int64_t i, std::int64_t j) const noexcept {
    for (std::int64_t r = 0; r < all_.edge; ++r) {
      for (std::int64_t c = 0; c < all_.edge; ++c)
        block(i, j)[r * all_.edge + c] = initial(i * all_.edge + r, j * all_.edge + c);
    }
  }

  /// `row` -= factor * `other`, from column `from` on.
  void add_row(double* row, double factor, const double* other, std::int64_t from) const noexcept {
    for (std::int64_t c = from; c < all_.edge; ++c) row[c] -= factor * other[c];
  }
  void factorise(double* a) const noexcept {
    for (std::int64_t k = 0; k < all_.edge; ++k) {
      for (std::int64_t i = k + 1; i < all_.edge; ++i) {
        a[i * all_.edge + k] /= a[k * all_.edge + k];
        add_row(a + i * all_.edge, a[i * all_.edge + k], a + k * all_.edge, k + 1);
      }
    }
  }
  /// Replaces b by 1/L * b.
  void solve_lower(const double* lu, double* b) const noexcept {
    for (std::int64_t k = 0; k < all_.edge; ++k) {
      for (std::int64_t i = k + 1; i < all_.edge; ++i)
        add_row(b + i * all_.edge, lu[i * all_.edge + k], b + k * all_.edge, 0);
    }
  }
  /// Replaces b by b * 1/U.
  void solve_upper(const double* lu, double* b) const noexcept {
    for (std::int64_t i = 0; i < all_.edge; ++i) {
      for (std::int64_t k = 0; k < all_.edge; ++k) {
        b[i * all_.edge + k] /= lu[k * all_.edge + k];
        add_row(b + i * all_.edge, b[i * all_.edge + k], lu + k * all_.edge, k + 1);
      }
    }
  }
  void subtract(const double* l, const double* u, double* a) const noexcept {
    for (std::int64_t i = 0; i < all_.edge; ++i) {
      for (std::int64_t k = 0; k < all_.edge; ++k)
        add_row(a + i * all_.edge, l[i * all_.edge + k], u + k * all_.edge, 0);
    }
  }

  square_tiles all_;
  std::int64_t density_;
  bool joined_, intense_;
  std::uint64_t seed_;
  std::vector<std::int64_t> indices_;  // of each block in data_; -1: it stays zero
  paged<double> data_;                 // blocks by rows
};

}  // namespace

const entry sparse_lu_entry = {"sparse_lu", "MIR", "LU factorisation of a matrix with zero blocks",
                               sparse_lu_parameters, make<sparse_lu>};

}  // namespace kith::apps
