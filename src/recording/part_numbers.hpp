// The numbers and times of one place's part in the recording of its job. For merge.cpp.
#pragma once

#include "recording/merge_order.hpp"
#include "recording/place_clock.hpp"

#include <cstdint>
#include <vector>

namespace kith {

/// The new numbers of what one part refers to, or the offsets to be added to its own numbers.
struct part_numbers {
  std::uint32_t first_worker = 0, first_scope = 0;
  std::int16_t first_node = 0;
  std::uint64_t address = 0;
  std::vector<std::uint16_t> types;
  std::vector<std::uint32_t> regions;
  std::vector<std::int32_t> tasks;
  clock_relation clock;

  std::int32_t task(std::int32_t own) const { return tasks[static_cast<std::size_t>(own)]; }
  std::uint32_t region(std::uint32_t own) const { return regions[own]; }
  // A negative number is no worker or node, and stays as it is.
  std::int16_t worker(std::int16_t own) const noexcept {
    return static_cast<std::int16_t>(own < 0 ? own : own + static_cast<std::int32_t>(first_worker));
  }
  std::int16_t node(std::int16_t own) const noexcept {
    return static_cast<std::int16_t>(own < 0 ? own : own + first_node);
  }
  /// Converts a time of the part to a time of the recording.
  std::uint64_t time(std::uint64_t own) const noexcept { return merged_time(clock, own); }
  /// 0 means that the time is not known, and stays 0.
  std::uint64_t time_or_none(std::uint64_t own) const noexcept { return own == 0 ? 0 : time(own); }
};

}  // namespace kith
