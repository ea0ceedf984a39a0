// The Task Bench patterns (Slaughter et al., SC 2020): a grid of steps and points, in which each point
// depends on points of the step before. For `metg`; also a program as in dags.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::bench {

enum class pattern { trivial, stencil_1d, nearest, dom, tree, fft, random_nearest };
inline constexpr std::array all_patterns{pattern::stencil_1d, pattern::nearest,        pattern::dom,    pattern::tree,
                                         pattern::fft,        pattern::random_nearest, pattern::trivial};
std::string_view name_of(pattern);
/// Throws std::runtime_error that lists the patterns if the name is none.
pattern pattern_of(std::string_view name);

/// The points of each step, and what they depend on.
struct grid {
  pattern kind;
  int width;
  int steps;

  static constexpr int radix = 5;           // of nearest and random_nearest
  static constexpr int period = 3;          // of random_nearest: the number of steps until its sets repeat
  static constexpr double fraction = 0.25;  // of random_nearest: the share of neighbours that are kept

  int first(int step) const;
  int count(int step) const;
  /// The points of `step - 1` on which a point depends, ascending, at most `radix`. Returns how many there are.
  int dependences(int step, int point, std::array<int, radix>& points) const;
};

/// A grid as a sequential program on cells: each task writes its own cell and reads those of its dependences.
/// Steps use `rows` rows of cells in turn. In Task Bench each step has data of its own, unless one asks for less; here
/// there are so many rows that hardly any task waits for readers of old data, as peers that are told their edges do
/// not.
class pattern_program {
 public:
  static constexpr int rows = 1024;
  static constexpr bool by_address = false;

  explicit pattern_program(const grid&);

  std::int64_t cells() const { return std::int64_t{shape.width} * rows; }
  std::int64_t tasks() const { return static_cast<std::int64_t>(tasks_.size()); }

  /// Calls emit.task(cell, inputs...) for each task, in order.
  template <class Emit>
  void emit(Emit&& to) const {
    for (const task& t : tasks_) {
      const auto& in = t.inputs;
      switch (t.count) {
        case 0: to.task(t.cell); break;
        case 1: to.task(t.cell, in[0]); break;
        case 2: to.task(t.cell, in[0], in[1]); break;
        case 3: to.task(t.cell, in[0], in[1], in[2]); break;
        case 4: to.task(t.cell, in[0], in[1], in[2], in[3]); break;
        default: to.task(t.cell, in[0], in[1], in[2], in[3], in[4]); break;
      }
    }
  }

  const grid shape;

 private:
  struct task {
    std::int32_t cell;
    std::int32_t count;
    std::array<std::int32_t, grid::radix> inputs;
  };
  std::vector<task> tasks_;
};

}  // namespace kith::bench
