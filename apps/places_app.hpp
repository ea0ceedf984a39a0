// A program that runs on places (docs/places.md). list.hpp has all of them.
#pragma once

#include "app.hpp"

#include <kith/places.hpp>

#include <memory>
#include <span>
#include <vector>

namespace kith::apps {

/// A program with its input. It can be solved any number of times.
class places_app {
 public:
  virtual ~places_app() = default;
  /// Brings the data of each place to its initial state.
  virtual void prepare(place_runtime&) = 0;
  /// The work itself, on prepared data.
  virtual void solve(place_runtime&) = 0;
  /// Gathers the result, and compares it with a serial computation.
  virtual verdict verify(place_runtime&) = 0;
  /// Changes the result a little, so that verify() must refuse it. For tests.
  virtual void damage(place_runtime&) = 0;
  virtual std::vector<figure> figures() const { return {}; }
  /// The longest chain of activities and tasks, each created by the one before (the paper's Dmax); 0: not known.
  virtual int depth() const { return 0; }
};

struct places_result {
  double seconds = 0;                    // of solve()
  std::vector<place_statistics> places;  // of the same part
  verdict check;
};
/// Calls prepare, solve, verify; solve is timed. A dry run has nothing to verify.
places_result run(places_app&, place_runtime&);

struct places_entry {
  entry about;  // without `make`
  /// Throws kith::error for a wrong value.
  std::unique_ptr<places_app> (*make)(const arguments&);
  /// For --as custom: the program of apps/by_hand/ that solves the same problem, and the parameters that it takes.
  const char* by_hand;
  std::span<const char* const> by_hand_takes;
};

/// The parameters that these programs share.
inline constexpr parameter scheduling_parameter = {
    "as", "ads", "ads",
    "ads: activities run where they belong; cws: all workers steal from all; custom: MPI and threads by hand, for "
    "comparison, in processes only"};
inline constexpr parameter waiting_parameter = {
    "waiting", "works", "works", "while a place does not accept an activity, its spawner works or blocks"};
inline constexpr parameter admission_parameter = {
    "admission", "refusals", "refusals",
    "refusals: full buffers refuse activities; credits: each spawning place has its share of the room"};

/// Halves [from, to) in tasks until at most `leaf` items are left, and gives each of these shares to a task that
/// calls compute(first, last) and declares cost(first, last), in nanoseconds. The caller waits for them. Both
/// functions are copied.
template <class Cost, class Compute>
void spawn_shares(std::int64_t from, std::int64_t to, std::int64_t leaf, const Cost& cost, const Compute& compute) {
  const auto spawn_share = [&](std::int64_t first, std::int64_t last) {
    if (last - first <= leaf) {
      kith::spawn([=] { compute(first, last); }, work{cost(first, last)});
    } else {
      kith::spawn([=] { spawn_shares(first, last, leaf, cost, compute); });
    }
  };
  if (to - from <= leaf) return spawn_share(from, to);
  const std::int64_t middle = from + (to - from) / 2;
  spawn_share(from, middle);
  spawn_share(middle, to);
}

/// Applies these parameters to the options. Throws kith::error for another word, and for `--as custom`.
void read_parameters(place_options&, const arguments&);

}  // namespace kith::apps
