// The data_flows of a job in one recording: the spawners and the order of their tasks, and the waits for these.
// For merge.cpp.
//
// The place that spawns a task of a data_flow records the spawn and the task's predecessors. The place where the task
// runs records the task itself.
#pragma once

#include "recording/part_numbers.hpp"
#include "recording/place_links.hpp"
#include "recording/place_part.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace kith {

class merged_flows {
 public:
  using part_task = known_results::part_task;

  /// Keeps references to all three arguments.
  merged_flows(std::span<const place_part>, std::span<const part_numbers>, const known_results&);

  /// If `which` is a task of a data_flow, sets its creator to its spawner and its scope to that of the data_flow, which
  /// gets its number from `scopes` the first time. Leaves a task whose spawner is not in `out` yet as it is.
  void set_spawner(recorded_task&, part_task which, const recording& out, std::uint32_t& scopes);

  /// Adds the predecessors of a task of a data_flow to the dependences; does nothing for other tasks.
  void add_order(part_task which, recording& out) const;

  /// Adds the waits for all tasks of a data_flow. They were recorded as waits for a future, or not at all if the tasks
  /// had ended. REQUIRES: `out` has the waits of all parts.
  void add_waits(recording& out) const;

 private:
  struct step_of_part {
    std::size_t part = 0;  // the part of the spawner
    const place_part::flow_step* step = nullptr;
  };
  std::int32_t number_of(part_task t) const { return numbers_[t.first].task(t.second); }

  std::span<const place_part> parts_;
  std::span<const part_numbers> numbers_;
  const known_results& results_;
  std::map<part_task, step_of_part> steps_;                                // by spawned task
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint32_t> scopes_;  // by part and data_flow
};

}  // namespace kith
