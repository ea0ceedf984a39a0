// life: Conway's game of life on a rectangle with a dead border.
//
// NabbitC paper, table I. Properties checked, against a serial program that keeps no border and counts neighbours in
// its own way:
//  L1  every cell equals the serial one;
//  L2  all cells outside the rectangle are dead.
#include "hash.hpp"
#include "list.hpp"
#include "row_grid.hpp"

namespace kith::apps {

namespace {

constexpr parameter parameters[] = {
    {"size", "2048", "384", "columns of the rectangle", "16384"},
    rows_parameter,
    {"iterations", "200", "30", "generations", "5"},
    {"block", "64", "24", "rows of a task", "32"},
    as_parameter,
    colors_parameter,
};

using cell = std::uint8_t;  // 1: alive

/// A third of the rectangle is alive at first.
cell initial(std::uint64_t seed, std::int64_t rows, std::int64_t columns, std::int64_t i, std::int64_t j) {
  if (i < 0 || i == rows || j < 0 || j == columns) return 0;
  return hash(seed, static_cast<std::uint64_t>(i * columns + j)) % 3 == 0;
}

class life final : public app {
 public:
  explicit life(const arguments& a)
      : how_(way_of(a)), grid_(a), steps_(a.number("iterations", 1, 1 << 30)), seed_(a.seed()) {}

  auto program() const {
    static const task_type type{"life"};
    return row_sweep(grid_, steps_, type,
                     [](const cell* above, const cell* here, const cell* below, cell* next, std::int64_t columns) {
                       for (std::int64_t j = 0; j < columns; ++j) {
                         const int around = above[j - 1] + above[j] + above[j + 1] + here[j - 1] + here[j + 1] +
                                            below[j - 1] + below[j] + below[j + 1];
                         // With the cell itself as the lowest bit: 3 neighbours, or 2 and alive.
                         next[j] = static_cast<cell>((around | here[j]) == 3);
                       }
                     });
  }

  void prepare(const target& where) override {
    static const task_type type{"life_initial"};
    grid_.fill(where, how_, type,
               [this](auto i, auto j) { return initial(seed_, grid_.rows(), grid_.columns(), i, j); });
  }

  void solve(const target& where) override {
    auto sweep = program();
    run(sweep, how_, where);
    last_ = static_cast<int>(steps_ % 2);
  }

  verdict verify() override {
    if (expected_.empty()) expected_ = serial();
    const std::int64_t rows = grid_.rows(), columns = grid_.columns();
    std::int64_t wrong = 0;
    for (std::int64_t i = -1; i <= rows; ++i) {
      for (std::int64_t j = -1; j <= columns; ++j) {
        const bool inside = i >= 0 && i < rows && j >= 0 && j < columns;
        wrong += grid_.row(last_, i)[j] != (inside ? expected_[static_cast<std::size_t>(i * columns + j)] : 0);
      }
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string((rows + 2) * (columns + 2)) +
                            " cells, border included, differ from the serial program's"};
  }

  std::vector<figure> figures() const override {
    return with_shape({{"cells", grid_.rows() * grid_.columns()}, {"iterations", steps_}}, program());
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(grid_.cells(last_)); }

 private:
  std::vector<cell> serial() const {
    const std::int64_t rows = grid_.rows(), columns = grid_.columns();
    const auto at = [columns](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * columns + j); };
    std::vector<cell> now(at(rows, 0)), around(now.size());
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) now[at(i, j)] = initial(seed_, rows, columns, i, j);
    }
    for (std::int64_t t = 0; t < steps_; ++t) {
      // The living tell their neighbours.
      std::fill(around.begin(), around.end(), cell{0});
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          if (now[at(i, j)] == 0) continue;
          for (std::int64_t y = std::max<std::int64_t>(i - 1, 0); y <= std::min(i + 1, rows - 1); ++y) {
            for (std::int64_t x = std::max<std::int64_t>(j - 1, 0); x <= std::min(j + 1, columns - 1); ++x)
              ++around[at(y, x)];
          }
        }
      }
      // A living cell has counted itself.
      for (std::size_t c = 0; c < now.size(); ++c) now[c] = around[c] == 3 || (around[c] == 4 && now[c] == 1);
    }
    return now;
  }

  way how_;
  row_grid<cell> grid_;
  std::int64_t steps_;
  std::uint64_t seed_;
  int last_ = 0;
  std::vector<cell> expected_;
};

}  // namespace

const entry life_entry = {"life", "NabbitC", "Conway's game of life: 8 neighbours, on blocks of rows", parameters,
                          make<life>};

}  // namespace kith::apps
