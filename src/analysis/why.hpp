// Why a task of a recorded run ran where it did: what is known of it, of its data, and of the other places it might have
// run at. For `kith why`.
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

/// One access of the task; `place` is as the task found the region, in bytes of the access.
struct used_region {
  std::uint32_t region = 0;
  std::uint8_t mode = 0;
  std::uint64_t bytes = 0, touched = 0;  // declared, which policies look at; used, which costs time
  region_place place = {};
  std::int32_t writer = -1;  // the task that wrote it last before; -1: none
  std::int32_t writer_node = -1;
};

/// What it would take to run the task on a node.
struct alternative {
  std::int32_t node = -1;
  int workers = 0;
  std::uint64_t home_bytes = 0;                // declared, and at home here
  std::uint64_t written_bytes = 0;             // declared, and written last by a task that ran here
  std::uint64_t remote_bytes = 0;              // used, and at home elsewhere; what nobody has touched yet would be here
  std::optional<double> data_ns = {};          // for what is used: on an idle machine with cold caches
  std::optional<std::uint64_t> weighted = {};  // used bytes, each times its distance over the local one
};

struct explanation {
  std::int32_t task = -1;
  std::int32_t node = -1;  // where it ran; -1: it never did
  std::int32_t creator_worker = -1;
  std::size_t predecessors = 0;
  std::int32_t released_by = -1;  // the predecessor that ended last; -1: none, or its creation came later
  std::int32_t ended_by = -1;     // the task whose end was the end of that one: itself, or its last child's last child
  meanwhile waited = {};          // from ready to start, on its worker
  std::vector<used_region> data = {};
  std::uint64_t bytes = 0, nowhere = 0;  // declared; of these, not touched by anybody before
  std::vector<alternative> nodes = {};
  std::optional<recorded_steal> stolen = {};  // its worker's last, after the task before it
  bool first_after_steal = false;             // ... and no other task began in between
  std::vector<std::string> reasons = {};      // reason.hpp
};

/// REQUIRES: a task of the recording. Cost: O(tasks and accesses).
explanation explain(const recording&, std::int32_t task, const data_costs&);

}  // namespace kith::analysis
