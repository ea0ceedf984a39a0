// mg: a multigrid V-cycle for Poisson's equation in a periodic cube, planes as nodes.
//
// NabbitC paper, table I (NAS MG: 2048^3, 11 levels, 1 cycle). Level k has 2^k planes of 2^k x 2^k cells. A
// cycle computes the residual on the finest level and restricts it level by level. The levels with fewer
// than 4 planes are one node, which smooths. Then each level interpolates, computes the residual of the
// result, and smooths. Each node makes one plane, from planes p-1, p, p+1 of the operator before. An
// interpolating node makes the neighbours' planes once more for itself, so that it waits only for the
// coarser level. Stencils, 27 points by distance, are those of NAS MG. Properties checked:
//  M1  solution and residual equal those of a serial program that sweeps whole grids, offset by offset;
//  M2  each cycle reduces the residual's norm to less than half, on a grid of any size (measured: 0.2 to
//      0.36 on grids with edges of 4 to 128 cells).
#include "hash.hpp"
#include "list.hpp"
#include "nodes.hpp"
#include "untouched.hpp"
#include "worst.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace kith::apps {

namespace {

constexpr parameter mg_parameters[] = {
    {"size", "128", "32", "planes, and cells of an edge: a power of two, at least 4", "2048"},
    {"iterations", "4", "3", "V-cycles", "1"},
    as_parameter,
    colors_parameter,
};

/// Weights by distance: the cell itself, 6 faces, 12 edges, 8 corners.
using stencil = std::array<double, 4>;
constexpr stencil laplace = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
constexpr stencil smoother = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
constexpr stencil coarsening = {1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16};

/// A periodic cube with an edge of 2^level cells.
struct grid {
  explicit grid(int l) : level(l), edge(std::int64_t{1} << l) {
    cells = make_untouched<double>(static_cast<std::size_t>(edge * edge * edge));
  }
  double* plane(std::int64_t p) const noexcept { return cells.get() + (p & (edge - 1)) * edge * edge; }
  std::span<double> all() const noexcept { return {cells.get(), static_cast<std::size_t>(edge * edge * edge)}; }

  int level;
  std::int64_t edge;
  untouched<double> cells;
};

/// Calls result(i, j, value) for each cell of the plane between `above` and `below`.
template <class Result>
void apply(const stencil& s, const double* above, const double* here, const double* below, std::int64_t edge,
           Result&& result) {
  const std::int64_t mask = edge - 1;
  std::vector<double> faces(static_cast<std::size_t>(edge)), corners(static_cast<std::size_t>(edge));
  for (std::int64_t i = 0; i < edge; ++i) {
    const std::int64_t row = i * edge, up = ((i - 1) & mask) * edge, down = ((i + 1) & mask) * edge;
    for (std::int64_t j = 0; j < edge; ++j) {
      faces[static_cast<std::size_t>(j)] = here[up + j] + here[down + j] + above[row + j] + below[row + j];
      corners[static_cast<std::size_t>(j)] = above[up + j] + above[down + j] + below[up + j] + below[down + j];
    }
    for (std::int64_t j = 0; j < edge; ++j) {
      const auto at = static_cast<std::size_t>(j), left = static_cast<std::size_t>((j - 1) & mask),
                 right = static_cast<std::size_t>((j + 1) & mask);
      const double one =
          here[row + static_cast<std::int64_t>(left)] + here[row + static_cast<std::int64_t>(right)] + faces[at];
      const double two = faces[left] + faces[right] + corners[at];
      const double three = corners[left] + corners[right];
      result(i, j, s[0] * here[row + j] + s[1] * one + s[2] * two + s[3] * three);
    }
  }
}

class mg final : public app, node_program {
 public:
  explicit mg(const arguments& a) : how_(way_of(a)), cycles_(a.number("iterations", 1, 1 << 16)), seed_(a.seed()) {
    const std::int64_t size = a.number("size", 4, 1 << 12);
    if (!std::has_single_bit(static_cast<std::uint64_t>(size)))
      throw error("mg: --size '" + std::to_string(size) + "'; expected a power of two from 4 to 4096");
    levels_ = std::countr_zero(static_cast<std::uint64_t>(size));
    for (int k = 0; k <= levels_; ++k) {
      u_.emplace_back(k);
      r_.emplace_back(k);
    }
    v_ = std::make_unique<grid>(levels_);
    raised_ = std::make_unique<grid>(levels_);
    make_cycle();
  }

  void prepare(const target& where) override {
    static const task_type type{"mg_initial"};
    for (int k = 1; k <= levels_; ++k) {
      initialise(
          where, how_, type, u_[at(k)].edge,
          [this, k](std::int64_t p) {
            for (grid* g : {&u_[at(k)], &r_[at(k)], v_.get(), raised_.get()}) {
              if (g->level == k) std::fill_n(g->plane(p), g->edge * g->edge, 0.0);
            }
          },
          [this, k](std::int64_t p, access_list& all) {
            for (grid* g : {&u_[at(k)], &r_[at(k)], v_.get(), raised_.get()}) {
              if (g->level == k) all.add(out(g->plane(p), static_cast<std::size_t>(g->edge * g->edge)));
            }
          });
    }
    // Charges whose sum is zero: without that, a periodic problem has no solution.
    std::span<double> charge = v_->all();
    for (std::uint64_t c = 0; c < 20; ++c) charge[hash(seed_, c) % charge.size()] += c % 2 == 0 ? 1 : -1;
  }

  void solve(const target& where) override { run(*this, how_, where); }

  std::uint64_t verifying_bytes() const override { return 8 * u_.back().all().size_bytes(); }
  verdict verify() override {
    if (expected_u_.empty()) serial();
    double worst = 0, size = 0;
    const std::span<const double> u = u_.back().all();
    for (std::size_t c = 0; c < u.size(); ++c) {
      worst = worst_of(worst, std::fabs(u[c] - expected_u_[c]));
      size = std::max(size, std::fabs(expected_u_[c]));
    }
    double slowest = 0;
    for (std::size_t c = 1; c < norms_.size(); ++c) slowest = std::max(slowest, norms_[c] / norms_[c - 1]);
    char text[220];
    std::snprintf(text, sizeof text,
                  "%zu cells differ from the serial program's by at most %.2g of the largest (bound 1e-10); a cycle "
                  "leaves at most %.2g of the residual (bound 0.5), all of them %.2g",
                  u.size(), worst / size, slowest, norms_.back() / norms_.front());
    return {worst <= 1e-10 * size && slowest <= 0.5, text};
  }

  std::vector<figure> figures() const override {
    return with_shape({{"cells", static_cast<std::int64_t>(u_.back().all().size())},
                       {"levels", static_cast<std::int64_t>(levels_)},
                       {"iterations", cycles_}},
                      *this);
  }
  std::span<std::byte> output() override { return std::as_writable_bytes(u_.back().all()); }

 private:
  enum kind : std::uint8_t { residual, restriction, coarsest, interpolation, smoothing };
  struct operation {
    kind what;
    int level;  // of the planes that the step makes
  };
  static constexpr int merged = 1;  // the finest of the levels that are merged into one node

  static std::size_t at(int level) noexcept { return static_cast<std::size_t>(level); }
  const operation& of(std::int32_t step) const noexcept {
    return cycle_[static_cast<std::size_t>(step) % cycle_.size()];
  }
  bool is_finest(int level) const noexcept { return level == levels_; }
  /// The planes that interpolation writes. On the finest level, other nodes still read the old ones.
  const grid& raised(int level) const noexcept { return is_finest(level) ? *raised_ : u_[at(level)]; }

  void make_cycle() {
    cycle_.push_back({residual, levels_});
    for (int k = levels_ - 1; k > merged; --k) cycle_.push_back({restriction, k});
    cycle_.push_back({coarsest, merged});
    for (int k = merged + 1; k <= levels_; ++k) {
      cycle_.push_back({interpolation, k});
      cycle_.push_back({smoothing, k});
    }
  }

  // ---- node_program

  std::int32_t steps() const override {
    return static_cast<std::int32_t>(cycles_ * static_cast<std::int64_t>(cycle_.size()));
  }
  std::int32_t nodes(std::int32_t step) const override {
    return of(step).what == coarsest ? 1 : std::int32_t{1} << of(step).level;
  }
  const task_type& type(std::int32_t step) const override {
    static const task_type types[] = {task_type{"mg_residual"}, task_type{"mg_restriction"}, task_type{"mg_coarsest"},
                                      task_type{"mg_interpolation"}, task_type{"mg_smoothing"}};
    return types[of(step).what];
  }

  /// From the serial time in the paper's table I, less the time for the bytes. All operations cost the same for each
  /// cell that they compute.
  double work(node_name n) const override {
    const auto edge = static_cast<double>(std::int64_t{1} << of(n.step).level);
    return 19 * edge * edge;
  }

  /// Adds planes from..to of the step before, wrapped around, each once.
  void before(std::int32_t step, std::int64_t from, std::int64_t to, keys<node_name>& all) const {
    const std::int64_t planes = nodes(step - 1);
    if (to - from + 1 >= planes) {
      from = 0;
      to = planes - 1;
    }
    for (std::int64_t p = from; p <= to; ++p) all.add({step - 1, static_cast<std::int32_t>(p & (planes - 1))});
  }

  void predecessors(node_name n, keys<node_name>& all) const override {
    if (n.step == 0) return;
    const std::int64_t p = n.index;
    switch (of(n.step).what) {
      case residual:
      case smoothing: return before(n.step, p - 1, p + 1, all);
      case restriction: return before(n.step, 2 * p - 1, 2 * p + 1, all);
      case coarsest: return before(n.step, 0, nodes(n.step - 1) - 1, all);
      case interpolation: return before(n.step, (p - 1) >> 1, ((p + 1) >> 1) + ((p + 1) & 1), all);
    }
  }

  void accesses(node_name n, access_list& all) const override {
    const operation& o = of(n.step);
    const auto plane = [&all](auto how, const grid& g, std::int64_t p) {
      all.add(how(g.plane(p), static_cast<std::size_t>(g.edge * g.edge)));
    };
    const auto planes = [&plane](const grid& g, std::int64_t from, std::int64_t to) {
      if (to - from + 1 > g.edge) to = from + g.edge - 1;
      for (std::int64_t p = from; p <= to; ++p) plane(in, g, p);
    };
    const std::int64_t p = n.index;
    const grid &u = u_[at(o.level)], &r = r_[at(o.level)];
    switch (o.what) {
      case residual:
        planes(u, p - 1, p + 1);
        plane(in, *v_, p);
        plane(out, r, p);
        return;
      case restriction:
        planes(r_[at(o.level + 1)], 2 * p - 1, 2 * p + 1);
        plane(out, r, p);
        return;
      case coarsest:
        planes(r_[at(o.level + 1)], 0, 2 * r.edge - 1);
        for (std::int64_t q = 0; q < r.edge; ++q) {
          plane(out, r, q);
          plane(out, u, q);
        }
        return;
      case interpolation:
        planes(u_[at(o.level - 1)], (p - 1) >> 1, ((p + 1) >> 1) + ((p + 1) & 1));
        if (is_finest(o.level)) {
          planes(u, p - 1, p + 1);
          plane(in, *v_, p);
          plane(out, r, p);
        } else {
          plane(inout, r, p);
        }
        plane(out, raised(o.level), p);
        return;
      case smoothing:
        planes(r, p - 1, p + 1);
        if (is_finest(o.level)) {
          plane(in, *raised_, p);
          plane(out, u, p);
        } else {
          plane(inout, u, p);
        }
        return;
    }
  }

  void compute(node_name n) override {
    const operation& o = of(n.step);
    const std::int64_t p = n.index;
    const grid &u = u_[at(o.level)], &r = r_[at(o.level)];
    switch (o.what) {
      case residual: subtract(v_->plane(p), u.plane(p - 1), u.plane(p), u.plane(p + 1), r, p); return;
      case restriction: restrict_to(r, p); return;
      case coarsest:
        for (std::int64_t q = 0; q < r.edge; ++q) restrict_to(r, q);
        for (std::int64_t q = 0; q < r.edge; ++q) smooth(nullptr, r, u.plane(q), q);
        return;
      case interpolation: {
        // Kept across tasks: to return a plane to the system and get it again in each task costs as much as the task.
        static thread_local std::vector<double> above, below;
        const auto cells = static_cast<std::size_t>(u.edge * u.edge);
        if (above.size() < cells) {
          above.resize(cells);
          below.resize(cells);
        }
        const grid& coarse = u_[at(o.level - 1)];
        interpolate(coarse, u, p - 1, above.data());
        interpolate(coarse, u, p + 1, below.data());
        double* const here = raised(o.level).plane(p);
        interpolate(coarse, u, p, here);
        const double* from = is_finest(o.level) ? v_->plane(p) : r.plane(p);
        subtract(from, above.data(), here, below.data(), r, p);
        return;
      }
      case smoothing: smooth(raised(o.level).plane(p), r, u.plane(p), p); return;
    }
  }

  /// r[p] = from - A u.
  static void subtract(const double* from, const double* above, const double* here, const double* below, const grid& r,
                       std::int64_t p) {
    double* to = r.plane(p);
    apply(laplace, above, here, below, r.edge,
          [&](std::int64_t i, std::int64_t j, double value) { to[i * r.edge + j] = from[i * r.edge + j] - value; });
  }
  /// Plane p of the coarser `to` from the planes of the level above it.
  void restrict_to(const grid& to, std::int64_t p) const {
    const grid& fine = r_[at(to.level + 1)];
    apply(coarsening, fine.plane(2 * p - 1), fine.plane(2 * p), fine.plane(2 * p + 1), fine.edge,
          [&](std::int64_t i, std::int64_t j, double value) {
            if (i % 2 == 0 && j % 2 == 0) to.plane(p)[i / 2 * to.edge + j / 2] = value;
          });
  }
  /// to = u + S r[p], with u = 0 if there is none.
  static void smooth(const double* u, const grid& r, double* to, std::int64_t p) {
    apply(smoother, r.plane(p - 1), r.plane(p), r.plane(p + 1), r.edge,
          [&](std::int64_t i, std::int64_t j, double value) {
            to[i * r.edge + j] = (u == nullptr ? 0 : u[i * r.edge + j]) + value;
          });
  }
  /// Plane p of the finer level from the coarser one. On the finest level, it is added to the present values.
  void interpolate(const grid& coarse, const grid& fine, std::int64_t p, double* to) const {
    const std::int64_t edge = fine.edge, half = coarse.edge, mask = half - 1;
    const double* near = coarse.plane(p >> 1);
    const double* far = coarse.plane((p >> 1) + (p & 1));
    const auto mean = [&](std::int64_t i, std::int64_t j) {
      const std::int64_t c = (i & mask) * half + (j & mask);
      return 0.5 * (near[c] + far[c]);
    };
    for (std::int64_t i = 0; i < edge; ++i) {
      for (std::int64_t j = 0; j < edge; ++j) {
        const std::int64_t a = i / 2, b = j / 2, x = i % 2, y = j % 2;
        const double value = 0.25 * (mean(a, b) + mean(a + x, b) + mean(a, b + y) + mean(a + x, b + y));
        to[i * edge + j] = value + (is_finest(fine.level) ? fine.plane(p)[i * edge + j] : 0);
      }
    }
  }

  // ---- the serial program: whole grids, offset by offset

  using cube = std::vector<double>;
  static std::size_t cell(std::int64_t edge, std::int64_t z, std::int64_t y, std::int64_t x) noexcept {
    const std::int64_t mask = edge - 1;
    return static_cast<std::size_t>(((z & mask) * edge + (y & mask)) * edge + (x & mask));
  }
  static cube stencil_of(const stencil& s, const cube& from, std::int64_t edge) {
    cube to(from.size(), 0);
    for (std::int64_t dz = -1; dz <= 1; ++dz) {
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        for (std::int64_t dx = -1; dx <= 1; ++dx) {
          const double weight = s[static_cast<std::size_t>(std::abs(dz) + std::abs(dy) + std::abs(dx))];
          if (weight == 0) continue;
          std::size_t c = 0;
          for (std::int64_t z = 0; z < edge; ++z) {
            for (std::int64_t y = 0; y < edge; ++y) {
              for (std::int64_t x = 0; x < edge; ++x, ++c) to[c] += weight * from[cell(edge, z + dz, y + dy, x + dx)];
            }
          }
        }
      }
    }
    return to;
  }
  static void add(cube& to, const cube& what, double factor = 1) {
    for (std::size_t c = 0; c < to.size(); ++c) to[c] += factor * what[c];
  }
  static double norm(const cube& c) {
    double sum = 0;
    for (double x : c) sum += x * x;
    return std::sqrt(sum);
  }
  /// A correction for the residual `r` of a level, by recursion.
  static cube correction(const cube& r, int level) {
    const std::int64_t edge = std::int64_t{1} << level;
    if (level == merged) return stencil_of(smoother, r, edge);
    const std::int64_t half = edge / 2;
    const cube averaged = stencil_of(coarsening, r, edge);
    cube coarse(static_cast<std::size_t>(half * half * half));
    for (std::int64_t z = 0; z < half; ++z) {
      for (std::int64_t y = 0; y < half; ++y) {
        for (std::int64_t x = 0; x < half; ++x) coarse[cell(half, z, y, x)] = averaged[cell(edge, 2 * z, 2 * y, 2 * x)];
      }
    }
    const cube below = correction(coarse, level - 1);
    cube u(r.size(), 0);  // each coarse cell adds to the fine cells around it, by distance
    for (std::int64_t z = 0; z < half; ++z) {
      for (std::int64_t y = 0; y < half; ++y) {
        for (std::int64_t x = 0; x < half; ++x) {
          for (std::int64_t d = 0; d < 27; ++d) {
            const std::int64_t dz = d / 9 - 1, dy = d / 3 % 3 - 1, dx = d % 3 - 1;
            const double weight = 1.0 / static_cast<double>(1 << (std::abs(dz) + std::abs(dy) + std::abs(dx)));
            u[cell(edge, 2 * z + dz, 2 * y + dy, 2 * x + dx)] += weight * below[cell(half, z, y, x)];
          }
        }
      }
    }
    cube left = r;
    add(left, stencil_of(laplace, u, edge), -1);
    add(u, stencil_of(smoother, left, edge));
    return u;
  }
  void serial() {
    const std::span<const double> charge = v_->all();
    const std::int64_t edge = v_->edge;
    const cube v(charge.begin(), charge.end());
    expected_u_.assign(v.size(), 0);
    norms_ = {norm(v)};
    for (std::int64_t c = 0; c < cycles_; ++c) {
      cube r = v;
      add(r, stencil_of(laplace, expected_u_, edge), -1);
      add(expected_u_, correction(r, levels_));
      r = v;
      add(r, stencil_of(laplace, expected_u_, edge), -1);
      norms_.push_back(norm(r));
    }
  }

  way how_;
  std::int64_t cycles_;
  std::uint64_t seed_;
  int levels_ = 0;
  std::vector<operation> cycle_;
  std::vector<grid> u_, r_;  // by level
  std::unique_ptr<grid> v_, raised_;
  cube expected_u_;
  std::vector<double> norms_;  // of the residual, before and after each cycle
};

}  // namespace

const entry mg_entry = {"mg", "NabbitC", "a multigrid V-cycle in a cube, planes as nodes", mg_parameters, make<mg>};

}  // namespace kith::apps
