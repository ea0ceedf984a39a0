// red_black: stationary heat by Gauss and Seidel's method on a chequerboard. First all red cells become the
// mean of their four (black) neighbours, then all black cells the mean of their red ones.
//
// RIP paper, section 5.2 (data as for gauss_seidel). A tile keeps separate borders for each color, so that
// the tiles of one half of an iteration do not wait for each other. Windows: three iterations, of which one
// stays. Property checked:
//  B1  every cell equals that of a serial program on the whole plate.
#include "plate_app.hpp"
#include "rates.hpp"

namespace kith::apps {

namespace {

class red_black final : public plate_app {
 public:
  explicit red_black(const arguments& a) : plate_app("red_black", a, 2) {}

  void prepare(const target& where) override {
    static const task_type type{"red_black_initial"};
    grid_.fill(where, type);
  }

  void solve(const target& where) override {
    static const task_type types[] = {task_type{"red"}, task_type{"black"}};
    const work cost = work_of(static_cast<double>(4 * grid_.edge() * grid_.edge()) / 2, rate::streamed);
    where.run([&] {
      for (std::int64_t half = 0; half < 2 * iterations_; ++half) {
        const int color = static_cast<int>(half % 2);  // 0, red: the cells (i, j) whose i + j is even
        for (std::int64_t i = 0; i < grid_.count(); ++i) {
          for (std::int64_t j = 0; j < grid_.count(); ++j) {
            spawn([this, i, j, color] { sweep(i, j, color); }, types[color], grid_.home(where, j),
                  grid_.accesses(i, j, 1 - color, color), cost);
          }
        }
      }
    });
  }

 private:
  void sweep(std::int64_t i, std::int64_t j, int color) const noexcept {
    const std::int64_t n = grid_.edge();
    double* const t = grid_.tile(i, j);
    const auto beside = [&](tile_grid::side s) { return grid_.beside(i, j, s, 1 - color); };
    const double *const left = beside(tile_grid::left), *const right = beside(tile_grid::right);
    for (std::int64_t r = 0; r < n; ++r) {
      double* const row = t + r * n;
      const double* const above = r > 0 ? row - n : beside(tile_grid::top);
      const double* const below = r + 1 < n ? row + n : beside(tile_grid::bottom);
      for (std::int64_t c = (i * n + r + j * n + color) % 2; c < n; c += 2) {
        row[c] = 0.25 * (above[c] + (c > 0 ? row[c - 1] : left[r]) + (c + 1 < n ? row[c + 1] : right[r]) + below[c]);
      }
    }
    grid_.publish(i, j, color);
  }

  void iterate(std::vector<double>& u, std::size_t wide) const override {
    for (const bool odd : {false, true}) {
      for (std::size_t c = wide; c < wide * (wide - 1); ++c) {
        const std::size_t i = c / wide, j = c % wide;
        if (j != 0 && j + 1 != wide && ((i + j) % 2 != 0) == odd) u[c] = mean(u, c, wide);
      }
    }
  }
};

window_hint red_black_windows(const arguments& a) {
  const std::int64_t tiles = square_tiles("red_black", a).total();
  return {.first = tiles, .window = 6 * tiles, .intersection = 2 * tiles};
}

}  // namespace

const entry red_black_entry = {
    "red_black",          "RIP",           "stationary heat by red and black halves, on tiles with halos",
    tile_grid_parameters, make<red_black>, false,
    red_black_windows};

}  // namespace kith::apps
