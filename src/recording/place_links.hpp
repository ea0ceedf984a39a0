// What relates the parts of a job: their clocks, and their messages. For merge.cpp.
#pragma once

#include "recording/place_clock.hpp"
#include "recording/place_part.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// By part: the conversion of its times to those of the recording, whose 0 is the earliest time of all parts. Throws
/// kith::error for a place that has never read the clock of place 0.
std::vector<clock_relation> clocks_of(std::span<const place_part>);

/// The index of the part of a place. REQUIRES: the parts are sorted by their numbers.
std::optional<std::size_t> part_of(std::span<const place_part>, std::uint16_t number);

/// A message as both sides recorded it; null: that side has not recorded it, or has no part.
struct message_link {
  std::uint16_t source = 0, destination = 0;  // places
  const place_part::message* sent = nullptr;
  const place_part::message* received = nullptr;
};
/// Sorted by source and destination, then in the order of sending. They refer to the parts.
std::vector<message_link> links_between(std::span<const place_part>, std::uint32_t places);

/// The origin of a task that another place has spawned.
struct spawned_task {
  std::size_t part = 0;
  std::int32_t spawner = -1;
  std::uint64_t sent = 0, accepted = 0;  // in that part's time: first offered; accepted (0: not known)
  bool with_result = false;
};
using spawned_by_task = std::map<std::pair<std::size_t, std::int32_t>, spawned_task>;  // by part and task
spawned_by_task spawned_tasks(std::span<const place_part>, std::span<const message_link>);

/// Activities by their results, under the numbers that the waiting place gave these.
struct known_results {
  using result_key = std::pair<std::size_t, std::uint64_t>;  // the waiting place's part, and the number
  using part_task = std::pair<std::size_t, std::int32_t>;
  struct sent_result {
    part_task sender;
    std::uint64_t bytes = 0;  // of the result itself
  };
  std::map<result_key, part_task> begun;   // the first task of an activity at another place, or of a place's own
  std::map<result_key, sent_result> sent;  // the task that sent the result to another place
};
known_results results_of(std::span<const place_part>, std::span<const message_link>);

}  // namespace kith
