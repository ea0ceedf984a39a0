// places_md: molecules in a box, velocity Verlet; each place has the molecules of one region of the box.
//
// ADS paper, section 5 (Molecular Dynamics). The box is cut into one slice for each place, and a molecule feels only
// the molecules of its own region, so that the work falls quadratically with the number of places, and the result
// depends on it. In each step every place gets one activity, which halves the list of its molecules recursively until
// at most `leaf` are left, and then sends those that have left its region to their new places. The paper prints neither
// the potential nor the time step. The potential is that of the OpenMP example program "md", whose words the paper
// uses; the step is longer, so that molecules migrate. Checked against a serial program that keeps the molecules in the
// order of their numbers and adds up each pair once.
#include "list.hpp"
#include "md_serial.hpp"
#include "places_app.hpp"
#include "places_work.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <span>
#include <vector>

namespace kith::apps {

namespace {

constexpr parameter places_md_parameters[] = {
    {"molecules", "4096", "512", "molecules in the box", "32768"},
    {"iterations", "100", "20", "steps", "100"},
    {"leaf", "64", "64", "molecules from which on a task does not halve its list"},
    scheduling_parameter,
    waiting_parameter,
    admission_parameter,
};

constexpr const char* md_by_hand_takes[] = {"molecules", "iterations"};

/// The counts of a place, for the verifier.
struct region_counts {
  std::int64_t migrations = 0;  // molecules that left
  std::int64_t most = 0;        // molecules at a time
};

class region {
 public:
  void fill(const box& b, bool dry) {
    box_ = b;
    dry_ = dry;
    counts_ = {};
    mine_.clear();
    for (auto& from : arrivals_) from.assign(static_cast<std::size_t>(places()), {});
    const int here = kith::here();
    for (std::int64_t n = 0; n < b.molecules; ++n) {
      if (const molecule m = b.initial(n); box::region_of(m.position, places()) == here) mine_.push_back(m);
    }
  }

  /// Ends step `t`, and begins the next (box::advanced).
  void step(std::int64_t t) {
    for (std::vector<molecule>& from : arrivals_at(t)) {
      mine_.insert(mine_.end(), from.begin(), from.end());
      from.clear();
    }
    const auto count = static_cast<std::int64_t>(mine_.size());
    counts_.most = std::max(counts_.most, count);
    moved_.resize(mine_.size());
    spawn_shares(
        0, count, box_.leaf,
        [this](std::int64_t from, std::int64_t to) { return md_work(to - from, std::ssize(mine_)); },
        [this, t](std::int64_t from, std::int64_t to) {
          for (std::int64_t i = from; i < to; ++i) advance(t, i, force_on(molecule_at(i), mine_));
        });
    kith::wait();
    for (std::int64_t i = 0; dry_ && i < count; ++i) advance(t, i, {});
    migrate(t);
  }
  /// Takes the molecules that place `from` sent at the end of step `t`. Each sender has a vector of its own, so that
  /// concurrent activities do not conflict.
  void receive(std::int64_t t, int from, std::span<const molecule> all) {
    arrivals_at(t + 1)[static_cast<std::size_t>(from)].assign(all.begin(), all.end());
  }
  std::vector<molecule>& molecules() noexcept { return mine_; }
  region_counts counts() const noexcept { return counts_; }

 private:
  std::vector<std::vector<molecule>>& arrivals_at(std::int64_t t) noexcept { return arrivals_[t % 2 == 0 ? 0 : 1]; }

  const molecule& molecule_at(std::int64_t i) const noexcept { return mine_[static_cast<std::size_t>(i)]; }
  void advance(std::int64_t t, std::int64_t i, const vector3& force) {
    moved_[static_cast<std::size_t>(i)] = box_.advanced(molecule_at(i), force, t);
  }
  void migrate(std::int64_t t);

  box box_{};
  bool dry_ = false;  // no forces are computed: the molecules fly straight
  std::vector<molecule> mine_, moved_;
  std::array<std::vector<std::vector<molecule>>, 2> arrivals_;  // for even and for odd steps, by the sender
  region_counts counts_;
};

place_local<region>& regions() {
  static place_local<region> all;
  return all;
}

void fill_region(const box& b, bool dry) { regions()->fill(b, dry); }
void step_region(std::int64_t t) { regions()->step(t); }
void receive_molecules(std::int64_t t, int from, std::span<const molecule> all) { regions()->receive(t, from, all); }

void region::migrate(std::int64_t t) {
  const int here = kith::here();
  std::map<int, std::vector<molecule>> leaving;
  mine_.clear();
  for (const molecule& m : moved_) {
    const int to = box::region_of(m.position, places());
    (to == here ? mine_ : leaving[to]).push_back(m);
  }
  for (const auto& [to, all] : leaving) {
    counts_.migrations += static_cast<std::int64_t>(all.size());
    at(to).spawn<receive_molecules>(t, here, all);
  }
}

class places_md final : public places_app {
 public:
  explicit places_md(const arguments& a)
      : box_{a.number("molecules", 1, 1 << 24), a.number("iterations", 1, 1 << 20), a.number("leaf", 1, 1 << 24),
             a.seed()} {}

  void prepare(place_runtime& on) override {
    on.run([&] {
      for (int p = 0; p < places(); ++p) at(p).spawn<fill_region>(box_, on.dry());
    });
  }
  void solve(place_runtime& on) override {
    on.run([&] {
      for (std::int64_t t = 0; t <= box_.iterations; ++t) {
        finish([&] {
          for (int p = 0; p < places(); ++p) at(p).spawn<step_region>(t);
        });
      }
    });
  }
  verdict verify(place_runtime& on) override {
    counts_ = {};
    std::vector<molecule> result;
    on.run([&] {
      for (int p = 0; p < places(); ++p) {
        const std::vector<molecule> there = at(p).async([] { return regions()->molecules(); }).get();
        result.insert(result.end(), there.begin(), there.end());
        const region_counts counts = at(p).async([] { return regions()->counts(); }).get();
        counts_.migrations += counts.migrations;
        counts_.most = std::max(counts_.most, counts.most);
      }
    });
    const auto [same, what] = check_md(box_, on.places(), std::move(result), counts_.migrations);
    return {same, what};
  }
  void damage(place_runtime& on) override {
    on.run([] {
      for (int p = 0; p < places(); ++p) {
        at(p).spawn([] {
          for (molecule& m : regions()->molecules()) m.position[1] += 1e-6;
        });
      }
    });
  }
  std::vector<figure> figures() const override {
    return {{"molecules", box_.molecules}, {"iterations", box_.iterations}, {"migrations", counts_.migrations}};
  }
  /// The root, the body of a finish, the step at a place, and a level for each halving.
  int depth() const override {
    int levels = 3;
    for (std::int64_t count = counts_.most; count > box_.leaf; count = (count + 1) / 2) ++levels;
    return levels;
  }

 private:
  box box_;
  region_counts counts_;  // of all places, since the last prepare()
};

}  // namespace

const places_entry places_md_entry = {
    {"places_md", "ADS", "molecular dynamics; each place has the molecules of one region", places_md_parameters,
     nullptr},
    [](const arguments& a) -> std::unique_ptr<places_app> { return std::make_unique<places_md>(a); },
    "md",
    md_by_hand_takes};

}  // namespace kith::apps
