// Where the regions of a recorded run were, and who wrote them, at a moment of the run. For whoever explains a recording.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::analysis {

/// The number of memory nodes of the recorded run: as its machine has, or more if something is said to be on a higher one.
std::size_t nodes_of(const recording&);

/// What is known of where a region is.
struct region_place {
  std::vector<std::uint64_t> bytes = {};  // by node
  std::uint64_t nowhere = 0;              // not touched yet
  bool at_the_end = false;                // the recording has no times of homes: this is how the run left it
};

/// Cost of making one: O(accesses). Keeps a reference to the recording.
class home_history {
 public:
  explicit home_history(const recording&);

  /// As a task that starts at `time` finds it; a task's own first touch is not in it.
  region_place before(std::uint32_t region, std::uint64_t time) const;
  /// As the run left it.
  region_place at_end(std::uint32_t region) const;
  std::size_t nodes() const noexcept { return nodes_; }

 private:
  std::span<const recorded_home> rows_of(std::uint32_t region) const noexcept;
  region_place place_of(std::uint32_t region, std::span<const recorded_home> last) const;

  const recording& r_;
  std::size_t nodes_;
  std::vector<std::uint64_t> first_touch_;  // by region: when the first task started that uses it
};

/// By region: the task that wrote it last, of those that ended until `time`; -1: none did. Cost: O(accesses).
std::vector<std::int32_t> last_writers(const recording&, std::uint64_t time);

}  // namespace kith::analysis
