// life: Conway's game of life on a square with a dead border.
//
// NabbitC paper, table I. Properties checked, against a serial program that keeps no border and counts neighbours in
// its own way:
//  L1  every cell equals the serial one;
//  L2  all cells outside the square are dead.
#include "hash.hpp"
#include "list.hpp"
#include "row_grid.hpp"

namespace kith::apps {

namespace {

constexpr parameter parameters[] = {
    {"size", "2048", "384", "rows, and columns, of the square"},
    {"iterations", "200", "30", "generations"},
    {"block", "64", "24", "rows of a task"},
};

using cell = std::uint8_t;  // 1: alive

/// A third of the square is alive at first.
cell initial(std::uint64_t seed, std::int64_t size, std::int64_t i, std::int64_t j) {
  if (i < 0 || i == size || j < 0 || j == size) return 0;
  return hash(seed, static_cast<std::uint64_t>(i * size + j)) % 3 == 0;
}

class life final : public app {
 public:
  explicit life(const arguments& a)
      : grid_(a.number("size", 1, 1 << 20), a.number("block", 1, 1 << 20)),
        steps_(a.number("iterations", 1, 1 << 30)),
        seed_(a.seed()) {}

  void prepare(const target& where) override {
    static const task_type type{"life_initial"};
    grid_.fill(where, type, [seed = seed_, size = grid_.size()](auto i, auto j) { return initial(seed, size, i, j); });
  }

  void solve(const target& where) override {
    static const task_type type{"life"};
    last_ = grid_.sweep(where, type, steps_,
                        [](const cell* above, const cell* here, const cell* below, cell* next, std::int64_t size) {
                          for (std::int64_t j = 0; j < size; ++j) {
                            const int around = above[j - 1] + above[j] + above[j + 1] + here[j - 1] + here[j + 1] +
                                               below[j - 1] + below[j] + below[j + 1];
                            // With the cell itself as the lowest bit: 3 neighbours, or 2 and alive.
                            next[j] = static_cast<cell>((around | here[j]) == 3);
                          }
                        });
  }

  verdict verify() override {
    if (expected_.empty()) expected_ = serial();
    const std::int64_t n = grid_.size();
    std::int64_t wrong = 0;
    for (std::int64_t i = -1; i <= n; ++i) {
      for (std::int64_t j = -1; j <= n; ++j) {
        const bool inside = i >= 0 && i < n && j >= 0 && j < n;
        wrong += grid_.row(last_, i)[j] != (inside ? expected_[static_cast<std::size_t>(i * n + j)] : 0);
      }
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string((n + 2) * (n + 2)) +
                            " cells, border included, differ from the serial program's"};
  }

  std::vector<figure> figures() const override {
    return {{"cells", grid_.size() * grid_.size()}, {"iterations", steps_}};
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(grid_.cells(last_)); }

 private:
  std::vector<cell> serial() const {
    const std::int64_t n = grid_.size();
    const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * n + j); };
    std::vector<cell> now(at(n, 0)), around(now.size());
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) now[at(i, j)] = initial(seed_, n, i, j);
    }
    for (std::int64_t t = 0; t < steps_; ++t) {
      // The living tell their neighbours.
      std::fill(around.begin(), around.end(), cell{0});
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          if (now[at(i, j)] == 0) continue;
          for (std::int64_t y = std::max<std::int64_t>(i - 1, 0); y <= std::min(i + 1, n - 1); ++y) {
            for (std::int64_t x = std::max<std::int64_t>(j - 1, 0); x <= std::min(j + 1, n - 1); ++x)
              ++around[at(y, x)];
          }
        }
      }
      // A living cell has counted itself.
      for (std::size_t c = 0; c < now.size(); ++c) now[c] = around[c] == 3 || (around[c] == 4 && now[c] == 1);
    }
    return now;
  }

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
