// Why a task of a recorded run ran where it did: what is known about the task, its data, and the other nodes it
// might have run on. For `kith why`.
#pragma once

#include "analysis/costs.hpp"
#include "analysis/homes.hpp"
#include "analysis/meanwhile.hpp"
#include "recording/recording.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith::analysis {

/// One access of the task. `homes` says where the task found the region, scaled to the bytes of the access.
struct used_region {
  std::uint32_t region = 0;
  std::uint8_t mode = 0;
  std::uint64_t bytes = 0, touched = 0;  // declared, which policies look at; used, which cost time
  region_homes homes = {};
  std::int32_t writer = -1;  // the last task that wrote it before; -1: none
  std::int32_t writer_node = -1;
};

/// The cost of running the task on a node.
struct alternative {
  std::int32_t node = -1;
  int workers = 0;                             // of the task's place
  std::uint64_t home_bytes = 0;                // declared, with their home here
  std::uint64_t written_bytes = 0;             // declared, last written by a task that ran here
  std::uint64_t remote_bytes = 0;              // used, with their home elsewhere; untouched bytes would get their
                                               // home here
  std::optional<double> data_ns = {};          // for the bytes used, on an idle machine with cold caches
  std::optional<std::uint64_t> weighted = {};  // used bytes, each times its distance relative to the local one
};

/// How a task came from another place.
struct arrival {
  recorded_message message;       // the message that made the task
  std::uint64_t refusals = 0;     // the number of refusals of the same activity before that
  std::uint64_t offered = 0;      // the time of the first offer
  std::uint64_t clock_error = 0;  // of the two places' clocks together, in nanoseconds
};

struct explanation {
  std::int32_t task = -1;
  std::int32_t place = -1;  // where it ran; -1: the program has no places, or the task never ran
  std::optional<arrival> came = {};
  std::int32_t node = -1;  // where it ran; -1: it never ran
  std::int32_t creator_worker = -1;
  std::size_t predecessors = 0;
  std::int32_t released_by = -1;  // the predecessor that was completed last; -1: none, or its creation ended later
  std::int32_t ended_by = -1;     // the task whose end completed that predecessor: itself or a descendant
  meanwhile waited = {};          // from ready to start, on its worker
  std::vector<used_region> data = {};
  std::uint64_t bytes = 0, nowhere = 0;  // declared; of these, never touched before
  std::vector<alternative> nodes = {};
  std::optional<recorded_steal> stolen = {};  // the last steal by its worker before it started
  bool first_after_steal = false;             // no other task began on the worker in between
  std::vector<std::string> reasons = {};      // reason.hpp
};

/// REQUIRES: a task of the recording. Cost: O(tasks and accesses).
explanation explain(const recording&, std::int32_t task, const data_costs&);

}  // namespace kith::analysis
