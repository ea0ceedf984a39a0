// The distance between cores: how long a cache line takes from the core that wrote it to one that reads it.
//
// A worker that runs tasks writes its own line from time to time (publish). A worker that looks for work in vain
// reads another worker's line, and times that (sample). A line that has changed since the last read comes from
// its writer's cache: one trip. So nothing is measured at the start, and no worker with work waits for a miss.
// Until there is a sample, cores count as near. Invariant:
//  M1  Only its worker writes a line; only its worker uses a sampler_state; any worker may read and write the known
//      trip.
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
      : lines_(static_cast<std::size_t>(workers)), samplers_(static_cast<std::size_t>(workers)) {}

  /// Changes the worker's line. Called by the worker after some tasks.
  void publish(worker_id w) noexcept {
    atomic<std::uint32_t>& mine = lines_[w.index()].published;
    mine.store(mine.load(relaxed) + 1, relaxed);
  }

  /// Called by a worker that has searched for work in vain. It samples one other worker for a while, then the next.
  /// After enough samples it samples seldom, because its read costs the other worker a miss at the next store.
  void sample(worker_id w) noexcept {
    sampler_state& mine = samplers_[w.index()];
    if (++mine.searches % (mine.samples < enough ? often : seldom) != 0) return;
    if (mine.left == 0) {
      mine.left = at_a_time;
      mine.to = (mine.to + 1) % lines_.size();
      if (mine.to == w.index()) mine.to = (mine.to + 1) % lines_.size();
      mine.last = lines_[mine.to].published.load(relaxed);
      return;
    }
    --mine.left;
    const std::uint64_t from = ordered_ticks();
    const std::uint32_t now = lines_[mine.to].published.load(relaxed);
    const std::uint64_t took = ordered_ticks() - from;
    if (std::exchange(mine.last, now) != now) add_sample(w, took);
  }

  /// Adds a sample of a trip. The estimate follows the median, roughly, so an interrupt barely moves it.
  void add_sample(worker_id w, std::uint64_t took) noexcept {
    sampler_state& mine = samplers_[w.index()];
    const auto ticks_taken = static_cast<std::uint32_t>(std::min<std::uint64_t>(took, longest));
    const std::uint32_t step = mine.trip / 16 + 1;
    if (mine.samples == 0) {
      mine.trip = ticks_taken;
    } else if (ticks_taken > mine.trip) {
      mine.trip += std::min(step, ticks_taken - mine.trip);
    } else {
      mine.trip -= std::min(step, mine.trip - ticks_taken);
    }
    if (++mine.samples % enough != 0) return;
    // All workers read it, so it is written only when it has clearly changed.
    const std::uint32_t known = trip_.load(relaxed);
    if (mine.trip > known + known / 4 || known > mine.trip + mine.trip / 4) trip_.store(mine.trip, relaxed);
  }

  /// Ticks of one trip; 0: not known yet.
  std::uint32_t trip() const noexcept { return trip_.load(relaxed); }
  /// A task of fewer ticks is short: if it is stolen, both workers wait for longer than it runs.
  std::uint32_t short_task() const noexcept { return std::max(least_short, trips * trip()); }

  /// A body of fewer ticks costs less than what handing its task to another worker costs: it runs at its creation.
  std::uint32_t short_body() const noexcept { return std::max(least_short / 2, trip()); }

  /// Trips for a stolen task: its line must come, and what the thief writes must go back.
  static constexpr std::uint32_t trips = 2;
  /// About 0.1 us: the cost of stealing a task between near cores.
  static constexpr std::uint32_t least_short = 300;

 private:
  static constexpr std::uint32_t often = 4, seldom = 64;  // searches
  static constexpr std::uint32_t enough = 32, at_a_time = 64;
  static constexpr std::uint64_t longest = 4000;  // a longer time is not a trip

  struct alignas(false_sharing_range) line {
    atomic<std::uint32_t> published{0};
  };
  struct alignas(false_sharing_range) sampler_state {
    std::uint32_t searches = 0, left = 0, last = 0, samples = 0, trip = 0;
    std::size_t to = 0;  // the worker that it samples
  };
  std::vector<line> lines_;
  std::vector<sampler_state> samplers_;
  alignas(false_sharing_range) atomic<std::uint32_t> trip_{0};
};

}  // namespace kith::native
