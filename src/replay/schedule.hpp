// What a recorded run decided: which worker ran which task, and in what order. Enough to decide the same again.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith {

struct recorded_schedule {
  struct step {
    std::uint64_t identity = 0;  // base/identity.hpp
    bool explores = false;       // the first phase of a keyed node
    std::int32_t task = -1;      // its place in the recording
    std::uint64_t started = 0;
    // What it began inside: of those that the worker had begun and not ended, the last one, which waited. Its identity, or
    // that of the root; its place in the same list, -1: none.
    std::uint64_t inside = 0;
    std::int64_t inside_at = -1;
    // Tasks that this one had created by then, nodes of graphs apart, and waits that it had begun. At least: what is not
    // certain is not counted.
    std::uint64_t created_before = 0, waits_before = 0;
  };
  std::vector<std::vector<step>> of_worker;  // in the order in which they began
  // Tasks that had a turn at a region with commutative access, and who had the next one.
  std::vector<std::pair<std::int32_t, std::int32_t>> turns;
  std::vector<std::string> type;  // of each task of the recording
  bool outside = false;           // some were created by threads that are no workers: in no fixed order
};

/// The identity of each task of a recording; 0 for fences.
std::vector<std::uint64_t> identities_of(const recording&);

/// Throws kith::error if a task was not run, or two cannot be told apart.
recorded_schedule schedule_of(const recording&);
/// Of a recording in a file. Throws kith::error also where that is not named, or cannot be read.
recorded_schedule schedule_in(const std::string& file);

}  // namespace kith
