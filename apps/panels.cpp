// panels: C = A * B, one task for each block of C, which reads a panel of rows of A and a panel of columns of B.
//
// Token and Reference scheduling, section 5.1.1 (block matrix multiplication). The paper prints no sizes; with the
// standard ones a task's panels fit a cache of 2 MiB, and the matrices do not. Each panel is stored as one piece, so
// that its rows (or columns) do not meet in the sets of a cache. The expert placement lays a grid of nodes over the
// blocks, block cyclic in both directions. Property checked:
//  P1  every entry equals that of the serial product. The factors are small integers, so it is equal to the last digit.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "square_tiles.hpp"

#include <string>

namespace kith::apps {

namespace {

constexpr parameter panels_parameters[] = {
    {"size", "1024", "192", "rows and columns; a multiple of the block"},
    {"block", "64", "32", "rows and columns of a block of C"},
};

class panels final : public app {
 public:
  explicit panels(const arguments& a)
      : all_("panels", a),
        seed_(a.seed()),
        a_(all_.count(), all_.edge * all_.size),
        b_(all_.count(), all_.edge * all_.size),
        c_(all_.total(), all_.area()) {}

  void prepare(const target& where) override {
    static const task_type type{"panels_initial"};
    where.on.run([&] {
      for (std::int64_t p = 0; p < all_.count(); ++p) {
        const auto body = [this, p] {
          for (std::int64_t line = 0; line < all_.edge; ++line) {
            for (std::int64_t k = 0; k < all_.size; ++k) {
              a_[p][line * all_.size + k] = static_cast<double>(factor(0, p * all_.edge + line, k));
              b_[p][line * all_.size + k] = static_cast<double>(factor(1, k, p * all_.edge + line));
            }
          }
        };
        spawn(body, type, where.of(p, all_.count()), a_.out(p), b_.out(p), work{0});
      }
    });
  }

  void solve(const target& where) override {
    static const task_type type{"panels"};
    const work cost = work_of(2 * static_cast<double>(all_.area()) * static_cast<double>(all_.size), rate::chained);
    where.on.run([&] {
      for (std::int64_t i = 0; i < all_.count(); ++i) {
        for (std::int64_t j = 0; j < all_.count(); ++j) {
          const auto body = [n = all_.size, edge = all_.edge, rows = a_[i], columns = b_[j], block = c_[at(i, j)]] {
            for (std::int64_t r = 0; r < edge; ++r) {
              for (std::int64_t c = 0; c < edge; ++c) {
                double sum = 0;
                for (std::int64_t k = 0; k < n; ++k) sum += rows[r * n + k] * columns[c * n + k];
                block[r * edge + c] = sum;
              }
            }
          };
          spawn(body, type, where.cyclic(i, j), a_.in(i), b_.in(j), c_.out(at(i, j)), cost);
        }
      }
    });
  }

  std::uint64_t verifying_bytes() const override {
    return 2 * sizeof(std::int64_t) * static_cast<std::uint64_t>(all_.size * all_.size);
  }
  verdict verify() override {
    const auto n = static_cast<std::size_t>(all_.size);
    std::vector<std::int64_t> right(n * n), row(n);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t j = 0; j < n; ++j)
        right[k * n + j] = factor(1, static_cast<std::int64_t>(k), static_cast<std::int64_t>(j));
    }
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < all_.size; ++i) {
      std::fill(row.begin(), row.end(), 0);
      for (std::size_t k = 0; k < n; ++k) {
        const std::int64_t left = factor(0, i, static_cast<std::int64_t>(k));
        for (std::size_t j = 0; j < n; ++j) row[j] += left * right[k * n + j];
      }
      for (std::int64_t j = 0; j < all_.size; ++j) {
        const double is = c_[at(i / all_.edge, j / all_.edge)][i % all_.edge * all_.edge + j % all_.edge];
        if (!(is == static_cast<double>(row[static_cast<std::size_t>(j)]))) ++wrong;
      }
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string(all_.size * all_.size) +
                            " entries differ from the serial product"};
  }

  std::vector<figure> figures() const override {
    double trace = 0;
    for (std::int64_t i = 0; i < all_.size; ++i)
      trace += c_[at(i / all_.edge, i / all_.edge)][i % all_.edge * (all_.edge + 1)];
    return {{"rows", all_.size}, {"blocks", all_.total()}, {"trace", trace}};
  }
  std::span<std::byte> output() override { return c_.bytes(); }

 private:
  std::int64_t at(std::int64_t i, std::int64_t j) const noexcept { return i * all_.count() + j; }
  /// An entry of the left (0) or right (1) matrix, -8 to 7.
  std::int64_t factor(std::uint64_t which, std::int64_t i, std::int64_t j) const noexcept {
    return static_cast<std::int64_t>(hash(seed_ + which, static_cast<std::uint64_t>(i * all_.size + j)) % 16) - 8;
  }

  square_tiles all_;
  std::uint64_t seed_;
  paged<double> a_, b_;  // panels: the rows of A, and the columns of B, one after the other
  paged<double> c_;      // blocks, by rows
};

}  // namespace

const entry panels_entry = {"panels", "HW", "product of two matrices, a task for each block, of whole panels",
                            panels_parameters, make<panels>};

}  // namespace kith::apps
