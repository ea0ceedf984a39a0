#include "analysis/block_shape.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

namespace kith::analysis {

namespace {

/// The k with k(k+1)/2 = n; 0 if there is none.
std::int32_t side_of_triangle(std::size_t n) {
  const auto k = static_cast<std::size_t>(std::lround((std::sqrt(8 * static_cast<double>(n) + 1) - 1) / 2));
  return k * (k + 1) / 2 == n ? static_cast<std::int32_t>(k) : 0;
}

double mean_distance(const block_shape& l, const std::vector<block_link>& links) {
  double sum = 0, count = 0;
  for (const block_link& k : links) {
    const auto [i, j] = l.at(k.from);
    const auto [p, q] = l.at(k.to);
    sum += static_cast<double>(k.count) * (std::abs(i - p) + std::abs(j - q));
    count += static_cast<double>(k.count);
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

std::pair<std::int32_t, std::int32_t> block_shape::at(std::int32_t i) const noexcept {
  if (what != triangle) return {i / columns, i % columns};
  auto row = static_cast<std::int32_t>((std::sqrt(8.0 * i + 1) - 1) / 2);
  while ((row + 1) * (row + 2) / 2 <= i) ++row;  // rounding
  while (row * (row + 1) / 2 > i) --row;
  return {row, i - row * (row + 1) / 2};
}

std::vector<block_link> links_of(const recording& r, const block_array& a) {
  const std::vector<std::int32_t> index = indices_in(r, a);
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint64_t> count;
  const auto add = [&](std::int32_t x, std::int32_t y) {
    if (x >= 0 && y >= 0 && x != y) ++count[std::minmax(x, y)];
  };
  // A task stands for the first block that it writes or, if it writes none, for the first that it reads.
  std::vector<std::int32_t> of_task(r.tasks.size(), -1);
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    std::set<std::int32_t> used;
    bool writes = false;
    for (std::uint64_t x = r.first_access[t]; x < r.first_access[t + 1]; ++x) {
      const std::int32_t b = index[r.accesses[x].region];
      if (b < 0) continue;
      used.insert(b);
      const bool written = static_cast<mode>(r.accesses[x].mode) != mode::in;
      if (of_task[t] < 0 || (written && !writes)) of_task[t] = b;
      writes = writes || written;
    }
    if (used.size() > 16) continue;  // a task that gathers says nothing about neighbours
    for (const std::int32_t b : used) add(of_task[t], b);
  }
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    for (std::uint64_t d = r.first_dependence[t]; d < r.first_dependence[t + 1]; ++d)
      add(of_task[t], of_task[static_cast<std::size_t>(r.dependences[d].before)]);
  }
  std::vector<block_link> links;
  for (const auto& [pair, n] : count) links.push_back({pair.first, pair.second, n});
  return links;
}

block_shape find_shape(std::size_t blocks, const std::vector<block_link>& links) {
  const auto n = static_cast<std::int32_t>(blocks);
  block_shape best{.what = block_shape::line, .rows = n, .columns = 1};
  best.linked = mean_distance(best, links);
  if (links.empty()) return best;
  std::vector<block_shape> others;
  for (std::int32_t columns = 2; columns <= n / 2; ++columns) {
    if (n % columns == 0) others.push_back({.what = block_shape::grid, .rows = n / columns, .columns = columns});
  }
  if (const std::int32_t k = side_of_triangle(blocks); k > 1)
    others.push_back({.what = block_shape::triangle, .rows = k, .columns = k});
  for (block_shape& l : others) {
    l.linked = mean_distance(l, links);
    if (l.linked < best.linked) best = l;
  }
  return best;
}

block_shape given_shape(std::size_t blocks, const std::string& text) {
  const auto n = static_cast<std::int32_t>(blocks);
  const std::string has = "the array has " + std::to_string(blocks) + " blocks";
  block_shape l{.given = true};
  if (text == "line") {
    l.rows = n;
    l.columns = 1;
    return l;
  }
  if (text == "triangle") {
    l.what = block_shape::triangle;
    l.rows = l.columns = side_of_triangle(blocks);
    if (l.rows == 0)
      throw error("grid 'triangle': " + has + ", expected a number of the form k(k+1)/2", error_kind::setting);
    return l;
  }
  char* end = nullptr;
  const long rows = std::strtol(text.c_str(), &end, 10);
  const long columns = *end == 'x' && end[1] != '\0' ? std::strtol(end + 1, &end, 10) : 0;
  if (*end != '\0' || rows < 1 || columns < 1 || rows > n || columns > n)
    throw error("grid '" + text + "': expected ROWSxCOLUMNS such as 16x16, triangle or line; " + has,
                error_kind::setting);
  if (rows * columns != n)
    throw error("grid '" + text + "' has " + std::to_string(rows * columns) + " cells; " + has, error_kind::setting);
  l.what = block_shape::grid;
  l.rows = static_cast<std::int32_t>(rows);
  l.columns = static_cast<std::int32_t>(columns);
  return l;
}

}  // namespace kith::analysis
