// cholesky: A = L * transpose(L) of a symmetric positive definite matrix in tiles, with OpenBLAS kernels.
//
// RIP paper, listing 1; regions are named by the addresses of the tiles. Property checked, without any BLAS:
//  C1  the largest entry of A - L * transpose(L) is at most n * epsilon * the largest entry of A, the bound
//      for rounding.
#include "dot.hpp"
#include "lower_tiles.hpp"
#include "worst.hpp"

#include <cmath>
#include <cstdio>
#include <limits>

namespace kith::apps {

namespace {

constexpr parameter cholesky_parameters[] = {
    {"size", "2560", "512", "rows of the matrix; a multiple of the block"},
    {"block", "128", "64", "rows of a tile"},
};

class cholesky final : public app {
 public:
  explicit cholesky(const arguments& a) : tiles_("cholesky", a) {}

  void prepare(const target& where) override {
    static const task_type type{"cholesky_initial"};
    tiles_.fill(where, owner(where), type);
  }
  void solve(const target& where) override {
    where.on.run([&] { tiles_.spawn_cholesky(owner(where)); });
  }

  std::uint64_t verifying_bytes() const override {
    return sizeof(double) * static_cast<std::uint64_t>(tiles_.size() * tiles_.size());
  }
  verdict verify() override {
    // Stored by rows, so that an entry of L * transpose(L) is the product of two rows.
    const std::int64_t n = tiles_.size();
    std::vector<double> rows(static_cast<std::size_t>(n * n), 0);
    const auto row = [&](std::int64_t i) { return rows.data() + i * n; };
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) row(i)[j] = tiles_.held(i, j);
    }
    double worst = 0, largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        worst = worst_of(worst, std::fabs(tiles_.initial(i, j) - dot(row(i), row(j), j + 1)));
        largest = std::max(largest, std::fabs(tiles_.initial(i, j)));
      }
    }
    const double bound = static_cast<double>(n) * std::numeric_limits<double>::epsilon() * largest;
    char text[160];
    std::snprintf(text, sizeof text, "the largest entry of A - L * transpose(L) is %.2g (bound %.2g)", worst, bound);
    return {worst <= bound, text};
  }

  std::vector<figure> figures() const override { return {{"rows", tiles_.size()}, {"tiles", tiles_.total()}}; }
  std::span<std::byte> output() override { return tiles_.bytes(); }

 private:
  /// Deals rows of tiles round robin.
  static tile_owner owner(const target& where) {
    return [&where](std::int64_t i, std::int64_t) { return where.turn(i); };
  }

  lower_tiles tiles_;
};

}  // namespace

const entry cholesky_entry = {"cholesky", "RIP", "tiled Cholesky factorization with OpenBLAS kernels",
                              cholesky_parameters, make<cholesky>};

}  // namespace kith::apps
