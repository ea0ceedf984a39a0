// The data_flows of a job in one recording: who has spawned their tasks, their order, and the waits for them. For
// merge.cpp.
//
// A place that spawns a task of a data_flow has noted it, with what it comes after. The task itself is recorded by the
// place at which it ran.
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

  /// All three stay where they are while this is used.
  merged_flows(std::span<const place_part>, std::span<const part_numbers>, const known_results&);

  /// If it is a task of a data_flow, it belongs to what has spawned it, in the scope of the data_flow; the scope's
  /// number is taken from `scopes`. A task whose spawner is not in `out` yet stays as it is.
  void set_spawner(recorded_task&, part_task which, const recording& out, std::uint32_t& scopes);

  /// Adds what a task comes after to the dependences. Nothing, if it is no task of a data_flow.
  void add_order(part_task which, recording& out) const;

  /// Adds the waits for all tasks of a data_flow. They were recorded as waits for a future, or, if the tasks had ended,
  /// not at all. REQUIRES: `out` has the waits of all parts.
  void add_waits(recording& out) const;

 private:
  struct step_of_part {
    std::size_t part = 0;  // whose task has spawned
    const place_part::flow_step* step = nullptr;
  };
  std::int32_t number_of(part_task t) const { return numbers_[t.first].task(t.second); }

  std::span<const place_part> parts_;
  std::span<const part_numbers> numbers_;
  const known_results& results_;
  std::map<part_task, step_of_part> steps_;                                // by the tasks that were spawned
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint32_t> scopes_;  // by part and data_flow
};

}  // namespace kith
