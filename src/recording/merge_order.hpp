// The order of the tasks of several places in one recording. For merge.cpp.
#pragma once

#include "recording/place_links.hpp"
#include "recording/place_part.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// Converts a time of a part to a time of the recording.
std::uint64_t merged_time(const clock_relation&, std::uint64_t own) noexcept;

struct merged_order {
  std::vector<std::pair<std::size_t, std::size_t>> tasks;  // part and task, in the new order
  std::vector<std::vector<std::int32_t>> numbers;          // by part and task: its new number
};
/// Merges the parts by the times of creation, so that each part keeps its order, a creator comes before the tasks that
/// it has created, and a fence follows the task that asked for it. `clocks`: by part.
merged_order merge_order(std::span<const place_part>, std::span<const clock_relation> clocks, const spawned_by_task&);

}  // namespace kith
