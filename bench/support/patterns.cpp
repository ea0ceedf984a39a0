#include "patterns.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace kith::bench {

namespace {

constexpr std::array<std::pair<pattern, std::string_view>, 7> names{{{pattern::trivial, "trivial"},
                                                                     {pattern::stencil_1d, "stencil_1d"},
                                                                     {pattern::nearest, "nearest"},
                                                                     {pattern::dom, "dom"},
                                                                     {pattern::tree, "tree"},
                                                                     {pattern::fft, "fft"},
                                                                     {pattern::random_nearest, "random_nearest"}}};

/// Uniform in [0, 1), a function only of its arguments (splitmix64). Task Bench uses SipHash here, so the
/// sets differ but have the same distribution.
double uniform(int set, int point, int neighbour) {
  std::uint64_t z = (static_cast<std::uint64_t>(set) << 40) ^ (static_cast<std::uint64_t>(point) << 20) ^
                    static_cast<std::uint64_t>(neighbour);
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

}  // namespace

std::string_view name_of(pattern p) {
  return std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == p; })->second;
}

pattern pattern_of(std::string_view name) {
  std::string known;
  for (const auto& [p, text] : names) {
    if (text == name) return p;
    known += known.empty() ? "" : ", ";
    known += text;
  }
  throw std::runtime_error("unknown pattern \"" + std::string(name) + "\"; expected one of " + known);
}

int grid::first(int step) const { return kind == pattern::dom ? std::max(0, step + width - steps) : 0; }

int grid::count(int step) const {
  switch (kind) {
    case pattern::dom: return std::min(width, std::min(step + 1, steps - step));
    case pattern::tree: return step < 30 ? std::min(width, 1 << step) : width;
    default: return width;
  }
}

int grid::dependences(int step, int point, std::array<int, radix>& points) const {
  if (step == 0) return 0;
  int found = 0;
  const int from = first(step - 1), to = from + count(step - 1);
  auto add = [&](int p) {
    if (p >= from && p < to) points[static_cast<std::size_t>(found++)] = p;
  };
  switch (kind) {
    case pattern::trivial: break;
    case pattern::stencil_1d:
      for (int p = point - 1; p <= point + 1; ++p) add(p);
      break;
    case pattern::nearest:
      for (int p = point - radix / 2; p <= point + (radix - 1) / 2; ++p) add(p);
      break;
    case pattern::dom:
      add(point - 1);
      add(point);
      break;
    case pattern::tree: add(point / 2); break;
    case pattern::fft: {
      const int sets = std::max(1, static_cast<int>(std::bit_width(static_cast<unsigned>(width - 1))));
      const int distance = 1 << ((step + sets - 1) % sets);
      add(point - distance);
      add(point);
      add(point + distance);
      break;
    }
    case pattern::random_nearest:
      for (int p = point - radix / 2; p <= point + (radix - 1) / 2; ++p) {
        if (p == point || uniform(step % period, point, p) < fraction) add(p);
      }
      break;
  }
  return found;
}

pattern_program::pattern_program(const grid& g) : shape(g) {
  if (g.width < 1 || g.steps < 1) throw std::runtime_error("a pattern needs a width and a number of steps from 1 on");
  tasks_.reserve(static_cast<std::size_t>(g.width) * static_cast<std::size_t>(g.steps));
  for (int step = 0; step < g.steps; ++step) {
    const int here = step % rows * g.width, before = (step + rows - 1) % rows * g.width;
    for (int point = g.first(step); point < g.first(step) + g.count(step); ++point) {
      std::array<int, grid::radix> points{};
      task t{here + point, g.dependences(step, point, points), {}};
      for (std::size_t i = 0; i < static_cast<std::size_t>(t.count); ++i) t.inputs[i] = before + points[i];
      tasks_.push_back(t);
    }
  }
}

}  // namespace kith::bench
