#include "npb_cg.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

namespace kith::apps {

namespace {

constexpr std::array<npb_cg_class, 5> classes{{{'S', 1400, 7, 15, 10, 8.5971775078648},
                                               {'W', 7000, 8, 15, 12, 10.362595087124},
                                               {'A', 14000, 11, 15, 20, 17.130235054029},
                                               {'B', 75000, 13, 75, 60, 22.712745482631},
                                               {'C', 150000, 15, 75, 110, 28.973605592845}}};

/// NPB's random numbers: x := 5^13 x mod 2^46, from 314159265 on. Products are taken mod 2^64, which 2^46 divides.
class npb_random {
 public:
  /// The next number, in (0, 1).
  double next() noexcept {
    x_ = x_ * 1220703125 & ((std::uint64_t{1} << 46) - 1);
    return static_cast<double>(x_) * 0x1p-46;
  }

 private:
  std::uint64_t x_ = 314159265;
};

/// A sparse vector: its elements in the order in which they were drawn.
using sparse_vector = std::vector<std::pair<std::uint32_t, double>>;

/// NPB's sprnvc and vecset: `nonzeros` random elements at different places, and 0.5 at `own`.
sparse_vector draw(npb_random& random, const npb_cg_class& c, std::uint32_t own) {
  const auto wide = static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(c.rows)));
  sparse_vector v;
  const auto find = [&v](std::uint32_t i) { return std::ranges::find(v, i, &sparse_vector::value_type::first); };
  while (v.size() < static_cast<std::size_t>(c.nonzeros)) {
    const double value = random.next();
    const auto i = static_cast<std::uint32_t>(wide * random.next());
    if (i < c.rows && find(i) == v.end()) v.emplace_back(i, value);
  }
  if (const auto at = find(own); at != v.end()) {
    at->second = 0.5;
  } else {
    v.emplace_back(own, 0.5);
  }
  return v;
}

}  // namespace

const npb_cg_class& npb_cg_class_of(const std::string& name) {
  for (const npb_cg_class& c : classes) {
    if (name == std::string(1, c.name)) return c;
  }
  throw error("--class " + name + ": expected S, W, A, B or C");
}

npb_rows make_npb_rows(const npb_cg_class& c, std::int64_t first, std::int64_t last) {
  constexpr double condition = 0.1;
  // The matrix is the sum over all vectors v of weight * v * v^T, and `condition - shift` on its diagonal.
  struct term {
    std::size_t vector;  // of `used`
    double factor;       // weight * v[row]
    std::uint32_t number;
  };
  std::vector<sparse_vector> used;
  std::vector<std::vector<term>> terms(static_cast<std::size_t>(last - first));
  npb_random random;
  static_cast<void>(random.next());  // as NPB's main program does
  const double ratio = std::pow(condition, 1.0 / static_cast<double>(c.rows));
  double weight = 1;
  for (std::int64_t i = 0; i < c.rows; ++i, weight *= ratio) {
    sparse_vector v = draw(random, c, static_cast<std::uint32_t>(i));
    bool mine = false;
    for (const auto& [row, value] : v) {
      if (row < first || row >= last) continue;
      mine = true;
      terms[static_cast<std::size_t>(row - first)].push_back(
          {used.size(), weight * value, static_cast<std::uint32_t>(i)});
    }
    if (mine) used.push_back(std::move(v));
  }
  npb_rows m;
  m.begin.push_back(0);
  std::vector<std::tuple<std::uint32_t, std::size_t, double>> row;  // column, position in NPB's order, and value
  for (std::size_t r = 0; r < terms.size(); ++r) {
    const auto diagonal = static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(r);
    row.clear();
    for (const term& t : terms[r]) {
      for (const auto& [column, value] : used[t.vector]) {
        double entry = value * t.factor;
        if (column == diagonal && t.number == diagonal) entry += condition - c.shift;
        row.emplace_back(column, row.size(), entry);
      }
    }
    std::ranges::sort(row);  // equal columns are added up in NPB's order
    for (const auto& [column, order, value] : row) {
      if (m.columns.size() > m.begin.back() && m.columns.back() == column) {
        m.values.back() += value;
      } else {
        m.columns.push_back(column);
        m.values.push_back(value);
      }
    }
    m.begin.push_back(m.columns.size());
  }
  return m;
}

std::pair<bool, std::string> check_npb_cg(const npb_cg_class& c, double zeta, double residual) {
  const double wrong = std::fabs(zeta - c.zeta) / c.zeta;
  char text[200];
  std::snprintf(text, sizeof text,
                "zeta %.13f differs from NPB's for class %c by %.2g of its size (bound 1e-10); the norm of the last "
                "residual is %.2g (bound 1e-10)",
                zeta, c.name, wrong, residual);
  return {wrong <= 1e-10 && residual <= 1e-10, text};
}

}  // namespace kith::apps
