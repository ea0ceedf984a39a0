// A program that sweeps a rectangle of cells: shared by heat and life, which differ in their rule and their verifier.
#pragma once

#include "row_grid.hpp"

#include <memory>

namespace kith::apps {

template <class Cell>
class row_app : public app {
 public:
  void prepare(const target& where) final {
    grid_.fill(where, how_, initial_type(), [this](auto i, auto j) { return initial(i, j); });
  }
  void solve(const target& where) final {
    const std::shared_ptr<node_program> all = sweep();
    where.keep(all);
    run(*all, how_, where);
    last_ = static_cast<int>(steps_ % 2);
  }
  std::vector<figure> figures() const final {
    return with_shape({{"cells", rows() * columns()}, {"iterations", steps_}}, *sweep());
  }
  std::span<std::byte> output() final { return grid_.bytes(last_); }

 protected:
  explicit row_app(const arguments& a, node_choice nodes = node_choice::shares)
      : how_(way_of(a)), grid_(a), steps_(a.number("iterations", 1, 1 << 30)), seed_(a.seed()) {
    how_.nodes = nodes;
  }

  /// The initial value of cell (i, j); rows -1 and rows(), and columns -1 and columns(), are outside.
  virtual Cell initial(std::int64_t i, std::int64_t j) const = 0;
  virtual const task_type& initial_type() const = 0;
  /// The node program that computes the steps.
  virtual std::unique_ptr<node_program> sweep() const = 0;

  std::int64_t rows() const noexcept { return grid_.rows(); }
  std::int64_t columns() const noexcept { return grid_.columns(); }
  std::int64_t steps() const noexcept { return steps_; }
  std::uint64_t seed() const noexcept { return seed_; }
  /// Row i, -1..rows(), after the last step; its cells are [-1]..[columns()].
  const Cell* result_row(std::int64_t i) const noexcept { return grid_.row(last_, i); }

  template <class Rule>
  std::unique_ptr<node_program> sweep_by(const task_type& type, double ns_per_cell, Rule rule) const {
    return std::make_unique<row_sweep<Cell, Rule>>(grid_, steps_, type, ns_per_cell, rule);
  }

 private:
  way how_;
  row_grid<Cell> grid_;
  std::int64_t steps_;
  std::uint64_t seed_;
  int last_ = 0;
};

}  // namespace kith::apps
