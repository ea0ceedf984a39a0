// refinement: the motion between two images, refined until it changes little (Horn and Schunck's method).
//
// Token and Reference scheduling, section 5.1.2. A task for each tile computes the derivatives of the images there;
// then, in each iteration, a task for each tile refines its motion field, and one task, the evaluator, decides whether
// another iteration is needed. If not, the rest of them does nothing. With --rounds above 1 the moving image is moved
// by the field, and all begins again, as in the paper's whole pipeline; its filter of the derivatives is left out. A
// tile is one piece of memory, and its edges go to its neighbours through pieces of their own. Images are two PNG files
// of one size, or generated: the second is the first one, moved. The paper prints no sizes; with the standard ones a
// tile is 256 KB, four first-level caches, and all tiles need nine caches of 2 MiB. The expert placement deals tiles
// round robin. Property checked:
//  H1  the motion of each pixel equals that of a serial program on whole images, to the last digit.
#include "hash.hpp"
#include "image.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace kith::apps {

namespace {

constexpr parameter refinement_parameters[] = {
    {"first", "", "", "a PNG file (generated)"},
    {"second", "", "", "a PNG file of the same size (generated)"},
    {"rows", "512", "96", "of generated images"},
    {"columns", "512", "128", "of generated images"},
    {"tile", "64", "32", "rows and columns of a tile; divides those of the image"},
    {"rounds", "1", "2", "how often the image is moved by the field and compared again"},
    {"iterations", "8", "4", "most refinements in a round"},
};

constexpr double smoothness = 100;  // the square of Horn and Schunck's alpha
constexpr double enough = 1e-4;     // mean change of a component at which the field is good

/// A pixel as the solver sees it: derivatives, and the motion of two iterations that take turns.
struct alignas(64) pixel {
  double dx, dy, dt;
  std::array<double, 2> u, v;
};

/// The shades of both images at any place; outside they are those of the edge.
class images {
 public:
  images(image first, image second) : first_(std::move(first)), second_(std::move(second)) {}
  std::int64_t rows() const noexcept { return first_.rows; }
  std::int64_t columns() const noexcept { return first_.columns; }
  double first(std::int64_t y, std::int64_t x) const noexcept { return shade(first_, y, x); }
  /// The second image at any position, interpolated between pixels.
  double second(double y, double x) const noexcept {
    const double top = std::floor(y), left = std::floor(x), down = y - top, right = x - left;
    const auto i = static_cast<std::int64_t>(top), j = static_cast<std::int64_t>(left);
    const double above = shade(second_, i, j) * (1 - right) + shade(second_, i, j + 1) * right;
    const double below = shade(second_, i + 1, j) * (1 - right) + shade(second_, i + 1, j + 1) * right;
    return above * (1 - down) + below * down;
  }

 private:
  static double shade(const image& i, std::int64_t y, std::int64_t x) noexcept {
    y = std::clamp<std::int64_t>(y, 0, i.rows - 1);
    x = std::clamp<std::int64_t>(x, 0, i.columns - 1);
    return i.shades[static_cast<std::size_t>(y * i.columns + x)];
  }
  image first_, second_;
};

/// Smooth spots of light, `moved` pixels to the right and down.
image spots(std::int64_t rows, std::int64_t columns, std::uint64_t seed, double moved) {
  image made{.rows = rows, .columns = columns, .shades = {}};
  const auto spot = [&](std::int64_t i, std::int64_t j) {
    return hash_unit(seed, static_cast<std::uint64_t>(i * 65536 + j));
  };
  const auto smooth = [](double t) { return t * t * (3 - 2 * t); };
  for (std::int64_t y = 0; y < rows; ++y) {
    for (std::int64_t x = 0; x < columns; ++x) {
      const double down = (static_cast<double>(y) - moved) / 12 + 1, right = (static_cast<double>(x) - moved) / 12 + 1;
      const auto i = static_cast<std::int64_t>(down), j = static_cast<std::int64_t>(right);
      const double a = smooth(down - static_cast<double>(i)), b = smooth(right - static_cast<double>(j));
      const double above = spot(i, j) * (1 - b) + spot(i, j + 1) * b;
      const double below = spot(i + 1, j) * (1 - b) + spot(i + 1, j + 1) * b;
      made.shades.push_back(static_cast<std::uint8_t>(255 * (above * (1 - a) + below * a)));
    }
  }
  return made;
}

images images_of(const arguments& a) {
  a.exclude("first", "rows");
  a.exclude("first", "columns");
  if (a.has("first") != a.has("second")) throw error("refinement: expected --first and --second, or neither");
  if (!a.has("first")) {
    const std::int64_t rows = a.number("rows", 1, 1 << 15), columns = a.number("columns", 1, 1 << 15);
    return {spots(rows, columns, a.seed(), 0), spots(rows, columns, a.seed(), 0.75)};
  }
  image first = read_image(a.text("first")), second = read_image(a.text("second"));
  if (first.rows != second.rows || first.columns != second.columns)
    throw error(a.text("second") + ": is " + std::to_string(second.columns) + " x " + std::to_string(second.rows) +
                " pixels; expected " + std::to_string(first.columns) + " x " + std::to_string(first.rows) + ", as " +
                a.text("first"));
  return {std::move(first), std::move(second)};
}

/// The derivatives at a place, between the first image and the second one moved back by (u, v).
void derive(const images& of, std::int64_t y, std::int64_t x, double u, double v, pixel& p) noexcept {
  const auto both = [&](std::int64_t i, std::int64_t j) {
    return of.first(i, j) + of.second(static_cast<double>(i) + v, static_cast<double>(j) + u);
  };
  p.dx = (both(y, x + 1) - both(y, x - 1)) / 4;
  p.dy = (both(y + 1, x) - both(y - 1, x)) / 4;
  p.dt = of.second(static_cast<double>(y) + v, static_cast<double>(x) + u) - of.first(y, x);
}

/// One refinement of a pixel from the means of its neighbours' motion. Returns its change.
double refine(pixel& p, std::size_t from, double mean_u, double mean_v) noexcept {
  const double step = (p.dx * mean_u + p.dy * mean_v + p.dt) / (smoothness + p.dx * p.dx + p.dy * p.dy);
  p.u[1 - from] = mean_u - p.dx * step;
  p.v[1 - from] = mean_v - p.dy * step;
  return std::abs(p.u[1 - from] - p.u[from]) + std::abs(p.v[1 - from] - p.v[from]);
}

struct motion {
  double u, v;
};
enum class side : std::int64_t { top, bottom, left, right };
constexpr side sides[] = {side::top, side::bottom, side::left, side::right};

class refinement final : public app {
 public:
  explicit refinement(const arguments& a) : refinement(a, images_of(a)) {}

  void prepare(const target& where) override {
    static const task_type type{"refinement_initial"};
    where.on.run([&] {
      for (std::int64_t t = 0; t < tiles(); ++t) {
        const auto body = [this, t] {
          std::fill_n(fields_[t], edge_ * edge_, pixel{});
          std::fill_n(moved_[t], edge_ * edge_, motion{});
          for (std::int64_t turn = 0; turn < 2; ++turn) std::fill_n(edges_[2 * t + turn], 4 * edge_, motion{});
          changes_[t][0] = 0;
        };
        access_list uses;
        uses.add(fields_.out(t));
        uses.add(moved_.out(t));
        uses.add(changes_.out(t));
        for (std::int64_t turn = 0; turn < 2; ++turn) uses.add(edges_.out(2 * t + turn));
        spawn(body, type, where.turn(t), uses, work{0});
      }
      spawn([this] { state_[0][0] = 0; }, type, where.turn(0), state_.out(0), work{0});
    });
  }

  void solve(const target& where) override {
    static const task_type deriving{"refinement_derive"}, refining{"refinement_refine"},
        evaluating{"refinement_evaluate"}, moving{"refinement_move"};
    const auto pixels = static_cast<double>(edge_ * edge_);
    where.on.run([&] {
      for (std::int64_t round = 0; round < rounds_; ++round) {
        for (std::int64_t t = 0; t < tiles(); ++t)
          spawn([this, t] { derive_tile(t); }, deriving, where.turn(t), moved_.in(t), fields_.inout(t),
                work_of(60 * pixels, rate::streamed));
        for (std::int64_t i = 0; i < iterations_; ++i) {
          const std::int64_t from = (round * iterations_ + i) % 2;
          for (std::int64_t t = 0; t < tiles(); ++t)
            spawn([this, t, from] { refine_tile(t, from); }, refining, where.turn(t), uses_of_refinement(t, from),
                  work_of(24 * pixels, rate::streamed));
          access_list all;
          all.add(kith::in(changes_[0], changes_.bytes().size() / sizeof(double)));
          all.add(state_.inout(0));
          spawn([this] { evaluate(); }, evaluating, where.turn(0), all,
                work_of(static_cast<double>(tiles()), rate::chained));
        }
        const std::int64_t last = (round * iterations_ + iterations_) % 2;
        for (std::int64_t t = 0; t < tiles(); ++t)
          spawn([this, t, last] { move_tile(t, last); }, moving, where.turn(t), fields_.in(t), moved_.inout(t),
                work_of(2 * pixels, rate::streamed));
        spawn([this] { state_[0][0] = 0; }, evaluating, where.turn(0), state_.inout(0), work{0});
      }
    });
  }

  std::uint64_t verifying_bytes() const override {
    return (sizeof(pixel) + sizeof(motion)) * static_cast<std::uint64_t>(images_.rows() * images_.columns());
  }
  verdict verify() override {
    if (right_.empty()) right_ = serial();
    std::int64_t wrong = 0;
    for (std::int64_t y = 0; y < images_.rows(); ++y) {
      for (std::int64_t x = 0; x < images_.columns(); ++x) {
        const motion is = moved_[y / edge_ * across_ + x / edge_][y % edge_ * edge_ + x % edge_];
        const motion& expected = right_[static_cast<std::size_t>(y * images_.columns() + x)];
        if (!(is.u == expected.u && is.v == expected.v)) ++wrong;
      }
    }
    return {wrong == 0, std::to_string(wrong) + " of " + std::to_string(images_.rows() * images_.columns()) +
                            " pixels move otherwise than in the serial program"};
  }

  std::vector<figure> figures() const override {
    double u = 0, v = 0;
    for (std::int64_t t = 0; t < tiles(); ++t) {
      for (std::int64_t i = 0; i < edge_ * edge_; ++i) {
        u += moved_[t][i].u;
        v += moved_[t][i].v;
      }
    }
    const auto pixels = static_cast<double>(images_.rows() * images_.columns());
    return {{"source", source_},
            {"pixels", images_.rows() * images_.columns()},
            {"tiles", tiles()},
            {"mean_u", u / pixels},
            {"mean_v", v / pixels}};
  }
  std::span<std::byte> output() override { return moved_.bytes(); }

 private:
  refinement(const arguments& a, images of)
      : source_(a.has("first") ? a.text("first") : "generated"),
        images_(std::move(of)),
        edge_(a.number("tile", 1, 1 << 12)),
        across_(images_.columns() / edge_),
        down_(images_.rows() / edge_),
        rounds_(a.number("rounds", 1, 1 << 20)),
        iterations_(a.number("iterations", 1, 1 << 20)),
        fields_(tiles(), edge_ * edge_),
        moved_(tiles(), edge_ * edge_),
        edges_(2 * tiles(), 4 * edge_),
        changes_(tiles(), 1),
        state_(1, 1) {
    if (across_ * edge_ != images_.columns() || down_ * edge_ != images_.rows())
      throw error("refinement: --tile " + std::to_string(edge_) + " does not divide an image of " +
                  std::to_string(images_.columns()) + " x " + std::to_string(images_.rows()));
  }

  std::int64_t tiles() const noexcept { return across_ * down_; }
  /// The tile beside t; t itself at the edge of the image.
  std::int64_t beside(std::int64_t t, side s) const noexcept {
    const std::int64_t i = t / across_, j = t % across_;
    switch (s) {
      case side::top: return i > 0 ? t - across_ : t;
      case side::bottom: return i + 1 < down_ ? t + across_ : t;
      case side::left: return j > 0 ? t - 1 : t;
      default: return j + 1 < across_ ? t + 1 : t;
    }
  }
  /// The motion along a side of the tile, of the iterations that `turn` names.
  motion* edge_of(std::int64_t t, std::int64_t turn, side s) const noexcept {
    return edges_[2 * t + turn] + static_cast<std::int64_t>(s) * edge_;
  }
  /// The values beyond a side: the opposite side of the tile beside it, or its own side at the edge of the image.
  const motion* beyond(std::int64_t t, std::int64_t turn, side s) const noexcept {
    constexpr side opposite[] = {side::bottom, side::top, side::right, side::left};
    const std::int64_t other = beside(t, s);
    return edge_of(other, turn, other == t ? s : opposite[static_cast<std::size_t>(s)]);
  }

  access_list uses_of_refinement(std::int64_t t, std::int64_t from) const {
    access_list uses;
    uses.add(fields_.inout(t));
    uses.add(state_.in(0));
    uses.add(changes_.inout(t));
    uses.add(edges_.out(2 * t + 1 - from));
    for (const side s : sides) uses.add(edges_.in(2 * beside(t, s) + from));
    return uses;
  }

  void derive_tile(std::int64_t t) const noexcept {
    for (std::int64_t i = 0; i < edge_; ++i) {
      for (std::int64_t j = 0; j < edge_; ++j) {
        const motion m = moved_[t][i * edge_ + j];
        derive(images_, t / across_ * edge_ + i, t % across_ * edge_ + j, m.u, m.v, fields_[t][i * edge_ + j]);
      }
    }
  }

  /// A field that is good stays as it is.
  void refine_tile(std::int64_t t, std::int64_t from) const noexcept {
    pixel* const all = fields_[t];
    const auto now = static_cast<std::size_t>(from);
    const bool good = state_[0][0] != 0;
    const motion *above = beyond(t, from, side::top), *below = beyond(t, from, side::bottom),
                 *before = beyond(t, from, side::left), *behind = beyond(t, from, side::right);
    double change = 0;
    const auto at = [&](std::int64_t i, std::int64_t j) -> motion {
      if (i < 0) return above[j];
      if (i == edge_) return below[j];
      if (j < 0) return before[i];
      if (j == edge_) return behind[i];
      const pixel& p = all[i * edge_ + j];
      return {p.u[now], p.v[now]};
    };
    for (std::int64_t i = 0; i < edge_; ++i) {
      for (std::int64_t j = 0; j < edge_; ++j) {
        pixel& p = all[i * edge_ + j];
        if (good) {
          p.u[1 - now] = p.u[now];
          p.v[1 - now] = p.v[now];
          continue;
        }
        const motion a = at(i - 1, j), b = at(i + 1, j), c = at(i, j - 1), d = at(i, j + 1);
        change += refine(p, now, (a.u + b.u + c.u + d.u) / 4, (a.v + b.v + c.v + d.v) / 4);
      }
    }
    changes_[t][0] = change;
    for (std::int64_t k = 0; k < edge_; ++k) {
      const auto out = [&](side s, std::int64_t i, std::int64_t j) {
        const pixel& p = all[i * edge_ + j];
        edge_of(t, 1 - from, s)[k] = {p.u[1 - now], p.v[1 - now]};
      };
      out(side::top, 0, k);
      out(side::bottom, edge_ - 1, k);
      out(side::left, k, 0);
      out(side::right, k, edge_ - 1);
    }
  }

  void evaluate() const noexcept {
    double change = 0;
    for (std::int64_t t = 0; t < tiles(); ++t) change += changes_[t][0];
    if (change < enough * static_cast<double>(2 * images_.rows() * images_.columns())) state_[0][0] = 1;
  }

  void move_tile(std::int64_t t, std::int64_t last) const noexcept {
    const auto now = static_cast<std::size_t>(last);
    for (std::int64_t i = 0; i < edge_ * edge_; ++i) {
      moved_[t][i].u += fields_[t][i].u[now];
      moved_[t][i].v += fields_[t][i].v[now];
    }
  }

  /// The same on whole images. Changes are added up by tiles, because the order of additions affects the last digit.
  std::vector<motion> serial() const {
    const std::int64_t rows = images_.rows(), columns = images_.columns();
    std::vector<pixel> field(static_cast<std::size_t>(rows * columns));
    std::vector<motion> moved(field.size());
    const auto index = [&](std::int64_t y, std::int64_t x) {
      return static_cast<std::size_t>(std::clamp<std::int64_t>(y, 0, rows - 1) * columns +
                                      std::clamp<std::int64_t>(x, 0, columns - 1));
    };
    std::size_t now = 0;
    for (std::int64_t round = 0; round < rounds_; ++round) {
      for (std::int64_t y = 0; y < rows; ++y) {
        for (std::int64_t x = 0; x < columns; ++x) {
          const std::size_t p = index(y, x);
          derive(images_, y, x, moved[p].u, moved[p].v, field[p]);
        }
      }
      bool good = false;
      for (std::int64_t i = 0; i < iterations_; ++i, now = 1 - now) {
        std::vector<double> changes(static_cast<std::size_t>(tiles()));
        for (std::int64_t y = 0; y < rows; ++y) {
          for (std::int64_t x = 0; x < columns; ++x) {
            pixel& p = field[index(y, x)];
            if (good) {
              p.u[1 - now] = p.u[now];
              p.v[1 - now] = p.v[now];
              continue;
            }
            const pixel &a = field[index(y - 1, x)], &b = field[index(y + 1, x)], &c = field[index(y, x - 1)],
                        &d = field[index(y, x + 1)];
            changes[static_cast<std::size_t>(y / edge_ * across_ + x / edge_)] +=
                refine(p, now, (a.u[now] + b.u[now] + c.u[now] + d.u[now]) / 4,
                       (a.v[now] + b.v[now] + c.v[now] + d.v[now]) / 4);
          }
        }
        double change = 0;
        for (const double c : changes) change += c;
        if (change < enough * static_cast<double>(2 * rows * columns)) good = true;
      }
      for (std::size_t p = 0; p < moved.size(); ++p) {
        moved[p].u += field[p].u[now];
        moved[p].v += field[p].v[now];
      }
    }
    return moved;
  }

  std::string source_;
  images images_;
  std::int64_t edge_, across_, down_, rounds_, iterations_;
  paged<pixel> fields_;        // by tile
  paged<motion> moved_;        // by tile: the motion that all rounds have found
  paged<motion> edges_;        // by tile and turn: its sides
  paged<double> changes_;      // by tile: of the last iteration
  paged<std::int64_t> state_;  // whether the field is good
  std::vector<motion> right_;
};

}  // namespace

const entry refinement_entry = {"refinement", "HW", "the motion between two images, refined until it changes little",
                                refinement_parameters, make<refinement>};

}  // namespace kith::apps
