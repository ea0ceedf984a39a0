// places_heat: diffusion on a plate, Jacobi steps with a 5-point stencil; each place has an equal share of the rows.
//
// ADS paper, section 5 (Heat). In each step every place gets one activity, which halves the columns recursively until
// at most `leaf` are left, and then sends its border rows to its neighbours. The paper's programs read these rows in
// place; here they go as messages. Checked against a serial program with its own layout and loop: every cell is equal
// up to rounding, border included.
#include "heat_plate.hpp"
#include "list.hpp"
#include "places_app.hpp"
#include "places_work.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

namespace kith::apps {

namespace {

constexpr parameter places_heat_parameters[] = {
    {"rows", "2048", "256", "rows of the plate", "32768"},
    {"columns", "2048", "256", "columns of the plate", "4096"},
    {"iterations", "100", "20", "steps", "100"},
    {"leaf", "32", "32", "columns from which on a task does not halve its share (the paper's leafmaxcol)"},
    scheduling_parameter,
    waiting_parameter,
    admission_parameter,
};

constexpr const char* heat_by_hand_takes[] = {"rows", "columns", "iterations"};

/// The rows of one place, with a row of its neighbours above and below, for even and for odd steps. In a dry run all of
/// them are one row, which is never written.
class share {
 public:
  void fill(const plate& p, bool dry) {
    plate_ = p;
    dry_ = dry;
    first_ = p.first_row(here(), places());
    rows_ = p.first_row(here() + 1, places()) - first_;
    for (std::vector<double>& cells : steps_) {
      cells.clear();
      if (dry) {
        cells.resize(static_cast<std::size_t>(p.wide()));
        continue;
      }
      cells.reserve(static_cast<std::size_t>((rows_ + 2) * p.wide()));
      for (std::int64_t i = -1; i <= rows_; ++i) {
        for (std::int64_t j = -1; j <= p.columns; ++j) cells.push_back(p.initial(first_ + i, j));
      }
    }
  }

  /// Computes the step after `t`, in tasks.
  void update(std::int64_t t) {
    spawn_shares(
        0, plate_.columns, plate_.leaf,
        [this](std::int64_t from, std::int64_t to) { return heat_work(rows_ * (to - from)); },
        [this, t](std::int64_t from, std::int64_t to) { update(t, from, to); });
  }
  /// Computes columns [from, to) of the step after `t`.
  void update(std::int64_t t, std::int64_t from, std::int64_t to) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::span<const double> above = row(t, i - 1), at = row(t, i), below = row(t, i + 1);
      const std::span<double> next = row(t + 1, i);
      for (std::int64_t j = from; j < to; ++j) {
        const auto c = static_cast<std::size_t>(j + 1);
        next[c] = weight_here * at[c] + weight_side * (above[c] + below[c] + at[c - 1] + at[c + 1]);
      }
    }
  }

  /// Sends the border rows of step `t` to the places that need them.
  void send_borders(std::int64_t t) {
    if (rows_ == 0) return;
    if (first_ > 0) send(t, 0, false);
    if (first_ + rows_ < plate_.rows) send(t, rows_ - 1, true);
  }
  /// Takes row `i` of the plate, of step `t`.
  void receive(std::int64_t t, std::int64_t i, std::span<const double> cells) {
    if (!dry_) std::ranges::copy(cells, row(t, i - first_).begin());
  }
  void damage(std::int64_t t) {
    for (std::int64_t i = 0; i < rows_; ++i) row(t, i)[static_cast<std::size_t>(plate_.columns)] += 1e-6;
  }
  std::vector<double> cells(std::int64_t t) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < rows_; ++i) all.insert(all.end(), row(t, i).begin(), row(t, i).end());
    return all;
  }

 private:
  void send(std::int64_t t, std::int64_t i, bool down);

  /// Rows -1 and rows_ are the neighbours'.
  std::span<double> row(std::int64_t t, std::int64_t i) noexcept {
    const auto wide = static_cast<std::size_t>(plate_.wide());
    const std::size_t begin = dry_ ? 0 : static_cast<std::size_t>(i + 1) * wide;
    return std::span(steps_[t % 2 == 0 ? 0 : 1]).subspan(begin, wide);
  }

  plate plate_{};
  bool dry_ = false;
  std::int64_t first_ = 0, rows_ = 0;
  std::array<std::vector<double>, 2> steps_;
};

place_local<share>& shares() {
  static place_local<share> all;
  return all;
}

void fill(const plate& p, bool dry) { shares()->fill(p, dry); }
void receive_row(std::int64_t t, std::int64_t i, std::span<const double> cells) { shares()->receive(t, i, cells); }
void step(std::int64_t t) {
  share& mine = *shares();
  mine.update(t);
  kith::wait();
  mine.send_borders(t + 1);
}

/// Sends row `i` to the nearest place above or below (`down`) that has rows.
void share::send(std::int64_t t, std::int64_t i, bool down) {
  int to = here();
  do {
    to += down ? 1 : -1;
  } while (plate_.first_row(to, places()) == plate_.first_row(to + 1, places()));
  at(to).spawn<receive_row>(t, first_ + i, row(t, i));
}

class places_heat final : public places_app {
 public:
  explicit places_heat(const arguments& a)
      : plate_{a.number("rows", 1, 1 << 24), a.number("columns", 1, 1 << 24), a.number("leaf", 1, 1 << 24), a.seed()},
        iterations_(a.number("iterations", 1, 1 << 20)) {}

  void prepare(place_runtime& on) override {
    on.run([&] {
      for (int p = 0; p < places(); ++p) at(p).spawn<fill>(plate_, on.dry());
    });
  }
  void solve(place_runtime& on) override {
    on.run([&] {
      for (std::int64_t t = 0; t < iterations_; ++t) {
        finish([&] {
          for (int p = 0; p < places(); ++p) at(p).spawn<step>(t);
        });
      }
    });
  }
  verdict verify(place_runtime& on) override {
    std::vector<double> result;
    on.run([&] {
      std::vector<place_future<std::vector<double>>> parts;
      for (int p = 0; p < places(); ++p)
        parts.push_back(at(p).async([](std::int64_t t) { return shares()->cells(t); }, iterations_));
      for (const auto& part : parts) {
        const std::vector<double> rows = part.get();
        result.insert(result.end(), rows.begin(), rows.end());
      }
    });
    const auto [same, what] = check_heat(plate_, iterations_, result);
    return {same, what};
  }
  void damage(place_runtime& on) override {
    on.run([&] {
      for (int p = 0; p < places(); ++p) at(p).spawn([](std::int64_t t) { shares()->damage(t); }, iterations_);
    });
  }
  std::vector<figure> figures() const override {
    return {{"rows", plate_.rows}, {"columns", plate_.columns}, {"iterations", iterations_}};
  }
  /// The root, the body of a finish, the step at a place, and a level for each halving.
  int depth() const override {
    int levels = 3;
    for (std::int64_t columns = plate_.columns; columns > plate_.leaf; columns = (columns + 1) / 2) ++levels;
    return levels;
  }

 private:
  plate plate_;
  std::int64_t iterations_;
};

}  // namespace

const places_entry places_heat_entry = {
    {"places_heat", "ADS", "diffusion on a plate whose rows belong to places", places_heat_parameters, nullptr},
    [](const arguments& a) -> std::unique_ptr<places_app> { return std::make_unique<places_heat>(a); },
    "heat",
    heat_by_hand_takes};

}  // namespace kith::apps
