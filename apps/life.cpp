// life: Conway's game of life on a rectangle with a dead border.
//
// NabbitC paper, table I. Properties checked, against a serial program that keeps no border and counts
// neighbours in another way:
//  L1  every cell equals the serial one;
//  L2  all cells outside the rectangle are dead.
#include "hash.hpp"
#include "list.hpp"
#include "row_app.hpp"

namespace kith::apps {

namespace {

constexpr parameter life_parameters[] = {
    {"size", "2048", "384", "columns of the rectangle", "16384"},
    rows_parameter,
    {"iterations", "200", "30", "generations", "5"},
    {"block", "64", "24", "rows of a task", "32"},
    as_parameter,
    colors_parameter,
};

using cell = std::uint8_t;  // 1: alive

class life final : public row_app<cell> {
 public:
  explicit life(const arguments& a) : row_app(a) {}

  std::uint64_t verifying_bytes() const override { return 2 * sizeof(cell) * at(rows(), 0); }
  verdict verify() override {
    if (expected_.empty()) expected_ = serial();
    std::int64_t wrong = 0;
    for (std::int64_t i = -1; i <= rows(); ++i) {
      for (std::int64_t j = -1; j <= columns(); ++j) {
        const bool inside = i >= 0 && i < rows() && j >= 0 && j < columns();
        wrong += result_row(i)[j] != (inside ? expected_[at(i, j)] : 0);
      }
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string((rows() + 2) * (columns() + 2)) +
                            " cells, border included, differ from the serial program's"};
  }

 private:
  /// A third of the rectangle is alive at the start.
  cell initial(std::int64_t i, std::int64_t j) const override {
    if (i < 0 || i == rows() || j < 0 || j == columns()) return 0;
    return hash(seed(), static_cast<std::uint64_t>(i * columns() + j)) % 3 == 0;
  }
  const task_type& initial_type() const override {
    static const task_type type{"life_initial"};
    return type;
  }
  std::unique_ptr<node_program> sweep() const override {
    static const task_type type{"life"};
    return sweep_by(type, 4.9,
                    [](  // 4.9: as in heat
                        const cell* above, const cell* here, const cell* below, cell* next, std::int64_t columns) {
                      for (std::int64_t j = 0; j < columns; ++j) {
                        const int around = above[j - 1] + above[j] + above[j + 1] + here[j - 1] + here[j + 1] +
                                           below[j - 1] + below[j] + below[j + 1];
                        // With the cell itself as the lowest bit, 3 means 3 neighbours, or 2 and alive.
                        next[j] = static_cast<cell>((around | here[j]) == 3);
                      }
                    });
  }

  std::size_t at(std::int64_t i, std::int64_t j) const noexcept { return static_cast<std::size_t>(i * columns() + j); }

  std::vector<cell> serial() const {
    std::vector<cell> now(at(rows(), 0)), around(now.size());
    for (std::int64_t i = 0; i < rows(); ++i) {
      for (std::int64_t j = 0; j < columns(); ++j) now[at(i, j)] = initial(i, j);
    }
    for (std::int64_t t = 0; t < steps(); ++t) {
      // Each living cell adds itself to the cells around it.
      std::fill(around.begin(), around.end(), cell{0});
      for (std::int64_t i = 0; i < rows(); ++i) {
        for (std::int64_t j = 0; j < columns(); ++j) {
          if (now[at(i, j)] == 0) continue;
          for (std::int64_t y = std::max<std::int64_t>(i - 1, 0); y <= std::min(i + 1, rows() - 1); ++y) {
            for (std::int64_t x = std::max<std::int64_t>(j - 1, 0); x <= std::min(j + 1, columns() - 1); ++x)
              ++around[at(y, x)];
          }
        }
      }
      // A living cell has also counted itself.
      for (std::size_t c = 0; c < now.size(); ++c) now[c] = around[c] == 3 || (around[c] == 4 && now[c] == 1);
    }
    return now;
  }

  std::vector<cell> expected_;
};

}  // namespace

const entry life_entry = {"life", "NabbitC", "Conway's game of life: 8 neighbours, on blocks of rows", life_parameters,
                          make<life>};

}  // namespace kith::apps
