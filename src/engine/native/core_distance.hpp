// How far apart the cores are: how long a cache line takes from the core that has written it to one that reads it.
//
// Workers that run tasks write a line of their own now and then (speak); workers that look for work in vain read one, and time
// that (listen). A line that has changed since the last look comes out of its writer's cache: one trip. So nothing is measured
// at the start, and it costs nobody who has work a miss that he waits for. Until somebody has listened, cores are taken
// to be near. Invariant:
//  M1  A line is written by its worker alone; an ear is its worker's alone; the published trip is anybody's.
#pragma once

#include "base/atomic.hpp"
#include "base/clock.hpp"
#include "base/id.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::native {

class core_distance {
 public:
  explicit core_distance(int workers)
      : lines_(static_cast<std::size_t>(workers)), ears_(static_cast<std::size_t>(workers)) {}

  /// The worker has run some tasks.
  void speak(worker_id w) noexcept {
    atomic<std::uint32_t>& mine = lines_[w.index()].spoken;
    mine.store(mine.load(relaxed) + 1, relaxed);
  }

  /// The worker has looked for work in vain. It listens to one of the others for a while, then to the next. Who has heard
  /// enough listens seldom: its reading costs the speaker a miss for its next store.
  void listen(worker_id w) noexcept {
    ear& mine = ears_[w.index()];
    if (++mine.looks % (mine.heard < enough ? often : seldom) != 0) return;
    if (mine.left == 0) {
      mine.left = at_a_time;
      mine.to = (mine.to + 1) % lines_.size();
      if (mine.to == w.index()) mine.to = (mine.to + 1) % lines_.size();
      mine.last = lines_[mine.to].spoken.load(relaxed);
      return;
    }
    --mine.left;
    const std::uint64_t from = ordered_ticks();
    const std::uint32_t now = lines_[mine.to].spoken.load(relaxed);
    const std::uint64_t took = ordered_ticks() - from;
    if (std::exchange(mine.last, now) != now) hear(w, took);
  }

  /// A trip took so long. Of many, about the median counts: what an interrupt took does no harm.
  void hear(worker_id w, std::uint64_t took) noexcept {
    ear& mine = ears_[w.index()];
    const auto sample = static_cast<std::uint32_t>(std::min<std::uint64_t>(took, longest));
    const std::uint32_t step = mine.trip / 16 + 1;
    if (mine.heard == 0) {
      mine.trip = sample;
    } else if (sample > mine.trip) {
      mine.trip += std::min(step, sample - mine.trip);
    } else {
      mine.trip -= std::min(step, mine.trip - sample);
    }
    if (++mine.heard % enough != 0) return;
    // All workers read it: it is written when it is clearly another one.
    const std::uint32_t known = trip_.load(relaxed);
    if (mine.trip > known + known / 4 || known > mine.trip + mine.trip / 4) trip_.store(mine.trip, relaxed);
  }

  /// Ticks of one trip; 0: not known yet.
  std::uint32_t trip() const noexcept { return trip_.load(relaxed); }
  /// A task of fewer ticks is short: who takes it from another worker has both wait for longer than it runs.
  std::uint32_t short_task() const noexcept { return std::max(least_short, trips * trip()); }

  /// Of a task: its line has to come, and what the taker writes has to go back.
  static constexpr std::uint32_t trips = 2;
  /// About 0.1 us: what taking a task costs where cores are near.
  static constexpr std::uint32_t least_short = 300;

 private:
  static constexpr std::uint32_t often = 4, seldom = 64;  // looks
  static constexpr std::uint32_t enough = 32, at_a_time = 64;
  static constexpr std::uint64_t longest = 4000;  // more is no trip

  struct alignas(false_sharing_range) line {
    atomic<std::uint32_t> spoken{0};
  };
  struct alignas(false_sharing_range) ear {
    std::uint32_t looks = 0, left = 0, last = 0, heard = 0, trip = 0;
    std::size_t to = 0;  // whom it listens to
  };
  std::vector<line> lines_;
  std::vector<ear> ears_;
  alignas(false_sharing_range) atomic<std::uint32_t> trip_{0};
};

}  // namespace kith::native
