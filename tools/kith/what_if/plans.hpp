// Schedules from which a search starts, and moves that change them. For order_search.cpp.
#pragma once

#include "base/rng.hpp"
#include "engine/sim/simulation.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith::tools {

/// The tasks of a program, as a search uses them.
class known_tasks {
 public:
  /// `run`: a simulated schedule of the program. Durations and creation order are taken from it.
  known_tasks(const sim::program&, const machine_model&, const sim::run_options&, const recording& run);

  /// The tasks that are in the figures and that a policy places, in the order of `run`.
  std::span<const std::int32_t> movable() const noexcept { return movable_; }
  /// The core and the rank of each task in `run`, a schedule of the same program.
  sim::plan plan_of(const recording& run) const;
  /// Puts each task, in the order of `order`, on the core that would end it first. A byte that is not in the core's
  /// cache costs `weight` times its time in the machine's memory.
  sim::plan plan_for_caches(const sim::plan& order, double weight) const;
  /// Changes the plan by `moves` random moves.
  void change(sim::plan&, rng&, int moves) const;

 private:
  std::int32_t neighbour(std::int32_t task, rng&) const;
  void swap_to(sim::plan&, std::int32_t task, std::int32_t beside, rng&) const;
  void move_from_busiest(sim::plan&, rng&) const;

  const sim::program& program_;
  std::size_t cores_;
  std::uint64_t cache_bytes_;
  double memory_seconds_;  // of a byte
  std::vector<std::int32_t> movable_;
  std::vector<double> seconds_;                   // by task, in the run
  std::vector<double> computing_;                 // by task, with all data in the nearest cache
  std::vector<std::vector<std::int32_t>> users_;  // by region: movable tasks, in order
};

}  // namespace kith::tools
