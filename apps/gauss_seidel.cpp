// gauss_seidel: stationary heat by Gauss and Seidel's method. Each cell becomes the mean of its four
// neighbours, of which those above and to the left are already new.
//
// RIP paper, section 5.2 and figures 2, 3 (4-element stencil, contiguous tiles, halos). Tile (i, j) of an
// iteration waits for the tiles above and to the left in the same iteration, and for those below and to the
// right in the one before: a wavefront. Windows: three iterations, of which one stays. Property checked:
//  G1  every cell equals that of a serial program that sweeps the whole plate row by row.
#include "plate_app.hpp"
#include "rates.hpp"

namespace kith::apps {

namespace {

class gauss_seidel final : public plate_app {
 public:
  explicit gauss_seidel(const arguments& a) : plate_app("gauss_seidel", a, 1) {}

  void prepare(const target& where) override {
    static const task_type type{"gauss_seidel_initial"};
    grid_.fill(where, type);
  }

  void solve(const target& where) override {
    static const task_type type{"gauss_seidel"};
    const work cost = work_of(static_cast<double>(4 * grid_.edge() * grid_.edge()), rate::chained);
    where.run([&] {
      for (std::int64_t t = 0; t < iterations_; ++t) {
        for (std::int64_t i = 0; i < grid_.count(); ++i) {
          for (std::int64_t j = 0; j < grid_.count(); ++j)
            spawn([this, i, j] { sweep(i, j); }, type, grid_.home(where, j), grid_.accesses(i, j, 0, 0), cost);
        }
      }
    });
  }

 private:
  void sweep(std::int64_t i, std::int64_t j) const noexcept {
    const std::int64_t n = grid_.edge();
    double* const t = grid_.tile(i, j);
    const double *const left = grid_.beside(i, j, tile_grid::left, 0), *const right =
                                                                           grid_.beside(i, j, tile_grid::right, 0);
    const double* const bottom = grid_.beside(i, j, tile_grid::bottom, 0);
    const double* above = grid_.beside(i, j, tile_grid::top, 0);
    for (std::int64_t r = 0; r < n; ++r) {
      double* const row = t + r * n;
      const double* const below = r + 1 < n ? row + n : bottom;
      double before = left[r];
      for (std::int64_t c = 0; c < n; ++c) {
        before = 0.25 * (above[c] + before + (c + 1 < n ? row[c + 1] : right[r]) + below[c]);
        row[c] = before;
      }
      above = row;
    }
    grid_.publish(i, j, 0);
  }

  void iterate(std::vector<double>& u, std::size_t wide) const override {
    for (std::size_t i = 1; i + 1 < wide; ++i) {
      for (std::size_t j = 1; j + 1 < wide; ++j) u[i * wide + j] = mean(u, i * wide + j, wide);
    }
  }
};

window_hint gauss_seidel_windows(const arguments& a) {
  const std::int64_t tiles = square_tiles("gauss_seidel", a).total();
  return {.first = tiles, .window = 3 * tiles, .intersection = tiles};
}

}  // namespace

const entry gauss_seidel_entry = {"gauss_seidel",
                                  "RIP",
                                  "stationary heat by Gauss-Seidel, on tiles with halos",
                                  tile_grid_parameters,
                                  make<gauss_seidel>,
                                  false,
                                  gauss_seidel_windows};

}  // namespace kith::apps
