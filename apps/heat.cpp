// heat: diffusion on a plate with a fixed border, Jacobi steps with a 5-point stencil.
//
// NabbitC paper, table I (there 655360 rows of 16384 cells in blocks of 32 rows, 5 steps). Properties checked, against
// a serial program with a layout and a loop of its own:
//  H1  every cell equals the serial one, up to rounding;
//  H2  the border has not changed.
#include "hash.hpp"
#include "list.hpp"
#include "row_app.hpp"
#include "worst.hpp"

#include <cmath>
#include <cstdio>

namespace kith::apps {

namespace {

constexpr parameter parameters[] = {
    {"size", "2048", "384", "columns of the plate", "16384"},
    rows_parameter,
    {"iterations", "200", "30", "steps", "5"},
    {"block", "64", "24", "rows of a task", "32"},
    as_parameter,
    colors_parameter,
};

class heat final : public row_app<double> {
 public:
  explicit heat(const arguments& a) : row_app(a) {}

  verdict verify() override {
    if (expected_.empty()) expected_ = serial();
    const std::span<const double> got = result();
    double worst = 0;
    for (std::size_t c = 0; c < got.size(); ++c) worst = worst_of(worst, std::fabs(got[c] - expected_[c]));
    char text[160];
    std::snprintf(text, sizeof text,
                  "%zu cells, border included, differ from the serial program's by at most %.2g (bound 1e-9)",
                  got.size(), worst);
    return {worst <= 1e-9, text};
  }

 private:
  /// A hot upper edge, a cold frame elsewhere, and an uneven plate.
  double initial(std::int64_t i, std::int64_t j) const override {
    if (i < 0) return 100;
    if (i == rows() || j < 0 || j == columns()) return 0;
    return 40 * hash_unit(seed(), static_cast<std::uint64_t>(i * columns() + j));
  }
  const task_type& initial_type() const override {
    static const task_type type{"heat_initial"};
    return type;
  }
  std::unique_ptr<node_program> sweep() const override {
    static const task_type type{"heat"};
    return sweep_by(
        type, 5.4,  // from the serial time in the paper's table I, less that of the bytes
        [](const double* above, const double* here, const double* below, double* next, std::int64_t columns) {
          for (std::int64_t j = 0; j < columns; ++j) {
            next[j] = 0.5 * here[j] + 0.125 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
          }
        });
  }

  std::vector<double> serial() const {
    const std::int64_t wide = columns() + 2;
    std::vector<double> now, next;
    for (std::int64_t i = -1; i <= rows(); ++i) {
      for (std::int64_t j = -1; j <= columns(); ++j) now.push_back(initial(i, j));
    }
    next = now;
    for (std::int64_t t = 0; t < steps(); ++t) {
      for (std::int64_t c = wide; c < wide * (rows() + 1); ++c) {
        const std::int64_t column = c % wide;
        if (column == 0 || column == wide - 1) continue;
        const auto at = [&](std::int64_t cell) { return now[static_cast<std::size_t>(cell)]; };
        next[static_cast<std::size_t>(c)] = at(c) / 2 + (at(c - wide) + at(c - 1) + at(c + 1) + at(c + wide)) / 8;
      }
      std::swap(now, next);
    }
    return now;
  }

  std::vector<double> expected_;
};

}  // namespace

const entry heat_entry = {"heat", "NabbitC", "diffusion on a plate: 5-point stencil on blocks of rows", parameters,
                          make<heat>};

}  // namespace kith::apps
