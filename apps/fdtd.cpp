// fdtd: electromagnetic waves on a plate, finite differences in time (Yee's scheme in two dimensions).
//
// NabbitC paper, table I (655360 rows of 16384 cells in blocks of 32 rows, 5 steps). A step changes ey and ex by
// the differences of hz, and then hz by their differences. A node does all three for its rows. Its last row of
// hz needs the new ey of the first row below, which the node computes once more for itself. So a node waits for
// three nodes of the step before, and for none of its own step. Fields are in two buffers. Properties checked:
//  F1  all cells of the three fields equal those of a serial program that updates them in place, up to rounding;
//  F2  nothing changes before the wave can arrive: it travels one row a step.
#include "blocks.hpp"
#include "list.hpp"
#include "nodes.hpp"
#include "row_grid.hpp"
#include "untouched.hpp"
#include "worst.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace kith::apps {

namespace {

constexpr parameter fdtd_parameters[] = {
    {"size", "1024", "256", "columns of the plate", "16384"},
    rows_parameter,
    {"iterations", "200", "40", "steps", "5"},
    {"block", "32", "16", "rows of a task", "32"},
    as_parameter,
    colors_parameter,
};

enum field : std::uint8_t { ex, ey, hz };

/// The source at the upper edge.
double source(std::int64_t step) { return std::sin(0.1 * static_cast<double>(step)); }

class fdtd final : public app, node_program {
 public:
  explicit fdtd(const arguments& a)
      : how_(way_of(a)),
        columns_(a.number("size", 2, 1 << 20)),
        rows_{a.text("rows").empty() ? columns_ : a.number("rows", 2, 1 << 20), a.number("block", 1, 1 << 20)},
        steps_(a.number("iterations", 1, 1 << 30)) {
    const auto cells = static_cast<std::size_t>(rows_.items * columns_);
    for (auto& buffers : fields_) {
      for (auto& f : buffers) f = make_untouched<double>(cells);
    }
  }

  void prepare(const target& where) override {
    static const task_type type{"fdtd_initial"};
    initialise(
        where, how_, type, rows_.count(),
        [this](std::int64_t b) {
          for (auto& buffers : fields_) {
            for (auto& f : buffers)
              std::fill(f.get() + rows_.begin(b) * columns_, f.get() + rows_.end(b) * columns_, 0.0);
          }
        },
        [this](std::int64_t b, access_list& all) {
          for (auto& buffers : fields_) {
            for (auto& f : buffers)
              all.add(out(f.get() + rows_.begin(b) * columns_, static_cast<std::size_t>(rows_.size(b) * columns_)));
          }
        });
  }

  void solve(const target& where) override {
    run(*this, how_, where);
    last_ = static_cast<int>(steps_ % 2);
  }

  std::uint64_t verifying_bytes() const override {
    return 6 * sizeof(double) * static_cast<std::uint64_t>(rows_.items) * static_cast<std::uint64_t>(columns_);
  }
  verdict verify() override {
    if (expected_[0].empty()) expected_ = serial();
    double worst = 0;
    std::int64_t early = 0;
    for (field f : {ex, ey, hz}) {
      for (std::int64_t c = 0; c < rows_.items * columns_; ++c) {
        const double got = fields_[f][last_][static_cast<std::size_t>(c)];
        worst = worst_of(worst, std::fabs(got - expected_[f][static_cast<std::size_t>(c)]));
        early += c / columns_ > steps_ && got != 0;
      }
    }
    const long long cells = rows_.items * columns_;
    char text[200];
    std::snprintf(text, sizeof text,
                  "three fields of %lld cells differ from the serial program's by at most %.2g (bound 1e-9), and %lld "
                  "cells have changed before the wave arrived",
                  cells, worst, static_cast<long long>(early));
    return {worst <= 1e-9 && early == 0, text};
  }

  std::vector<figure> figures() const override {
    return with_shape({{"cells", rows_.items * columns_}, {"iterations", steps_}}, *this);
  }
  std::span<std::byte> output() override {
    return std::as_writable_bytes(
        std::span(fields_[hz][last_].get(), static_cast<std::size_t>(rows_.items * columns_)));
  }

 private:
  std::int32_t steps() const override { return static_cast<std::int32_t>(steps_); }
  std::int32_t nodes(std::int32_t) const override { return static_cast<std::int32_t>(rows_.count()); }
  void predecessors(node_name n, keys<node_name>& all) const override { add_neighbours(n, nodes(0), all); }
  const task_type& type(std::int32_t) const override {
    static const task_type type{"fdtd"};
    return type;
  }

  /// From the serial time in the paper's table I, less the time for the bytes.
  double work(node_name n) const override { return 13.3 * static_cast<double>(rows_.size(n.index) * columns_); }

  void accesses(node_name n, access_list& all) const override {
    const int from = n.step % 2;
    const auto add = [&](auto how, field f, int buffer, std::int64_t b) {
      if (b < 0 || b >= rows_.count()) return;
      const auto all_of_it = how(fields_[f][static_cast<std::size_t>(buffer)].get() + rows_.begin(b) * columns_,
                                 static_cast<std::size_t>(rows_.size(b) * columns_));
      const std::size_t row = static_cast<std::size_t>(columns_) * sizeof(double);
      all.add(b == n.index ? all_of_it : all_of_it.touching(row));
    };
    for (field f : {ex, ey, hz}) {
      add(in, f, from, n.index);
      add(out, f, 1 - from, n.index);
    }
    add(in, ey, from, n.index + 1);
    add(in, hz, from, n.index - 1);
    add(in, hz, from, n.index + 1);
  }

  void compute(node_name n) override {
    const auto from = static_cast<std::size_t>(n.step % 2), to = 1 - from;
    const std::int64_t first = rows_.begin(n.index), last = rows_.end(n.index);
    const auto row = [this](field f, std::size_t buffer, std::int64_t i) {
      return fields_[f][buffer].get() + i * columns_;
    };
    const auto new_ey = [&](std::int64_t i, double* result) {
      for (std::int64_t j = 0; j < columns_; ++j) {
        result[j] =
            i == 0 ? source(n.step) : row(ey, from, i)[j] - 0.5 * (row(hz, from, i)[j] - row(hz, from, i - 1)[j]);
      }
    };
    for (std::int64_t i = first; i < last; ++i) {
      new_ey(i, row(ey, to, i));
      const double* old = row(ex, from, i);
      const double* h = row(hz, from, i);
      double* x = row(ex, to, i);
      x[0] = old[0];
      for (std::int64_t j = 1; j < columns_; ++j) x[j] = old[j] - 0.5 * (h[j] - h[j - 1]);
    }
    std::vector<double> below(static_cast<std::size_t>(columns_));
    if (last < rows_.items) new_ey(last, below.data());
    for (std::int64_t i = first; i < last; ++i) {
      const double* old = row(hz, from, i);
      double* h = row(hz, to, i);
      std::copy_n(old, columns_, h);
      if (i + 1 == rows_.items) break;
      const double* x = row(ex, to, i);
      const double* y = row(ey, to, i);
      const double* y_below = i + 1 < last ? row(ey, to, i + 1) : below.data();
      for (std::int64_t j = 0; j + 1 < columns_; ++j) h[j] = old[j] - 0.7 * (x[j + 1] - x[j] + y_below[j] - y[j]);
    }
  }

  /// Computes in place, cell by cell, with the three fields side by side.
  std::array<std::vector<double>, 3> serial() const {
    struct cell {
      double x = 0, y = 0, h = 0;
    };
    std::vector<std::vector<cell>> plate(static_cast<std::size_t>(rows_.items),
                                         std::vector<cell>(static_cast<std::size_t>(columns_)));
    for (std::int64_t t = 0; t < steps_; ++t) {
      for (std::size_t i = plate.size(); i-- > 0;) {
        for (std::size_t j = plate[i].size(); j-- > 0;) {
          cell& c = plate[i][j];
          c.y = i == 0 ? source(t) : c.y - (c.h - plate[i - 1][j].h) / 2;
          if (j > 0) c.x -= (c.h - plate[i][j - 1].h) / 2;
        }
      }
      for (std::size_t i = 0; i + 1 < plate.size(); ++i) {
        for (std::size_t j = 0; j + 1 < plate[i].size(); ++j) {
          plate[i][j].h -= 0.7 * (plate[i][j + 1].x - plate[i][j].x + plate[i + 1][j].y - plate[i][j].y);
        }
      }
    }
    std::array<std::vector<double>, 3> all;
    for (auto& field : all) field.reserve(static_cast<std::size_t>(rows_.items * columns_));
    for (const auto& row : plate) {
      for (const cell& c : row) {
        all[ex].push_back(c.x);
        all[ey].push_back(c.y);
        all[hz].push_back(c.h);
      }
    }
    return all;
  }

  way how_;
  std::int64_t columns_;
  blocks rows_;
  std::int64_t steps_;
  std::array<std::array<untouched<double>, 2>, 3> fields_;
  std::size_t last_ = 0;
  std::array<std::vector<double>, 3> expected_;
};

}  // namespace

const entry fdtd_entry = {"fdtd", "NabbitC", "electromagnetic waves on a plate, in blocks of rows", fdtd_parameters,
                          make<fdtd>};

}  // namespace kith::apps
