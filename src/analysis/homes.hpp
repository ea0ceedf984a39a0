// Where the regions of a recorded run were at a moment of the run, and which task had written them last. For code that
// explains a recording.
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kith::analysis {

/// The number of memory nodes of the recorded run: that of its machine, or more if the recording mentions a
/// higher node.
std::size_t nodes_of(const recording&);

/// What is known of the homes of a region.
struct region_homes {
  std::vector<std::uint64_t> bytes = {};  // by node
  std::uint64_t nowhere = 0;              // not touched yet
  bool at_the_end = false;                // the recording has no times of homes; this is how the run left it
};

/// Cost of making one: O(accesses). Keeps a reference to the recording.
class home_history {
 public:
  explicit home_history(const recording&);

  /// Where a task that starts at `time` finds the region, without the task's own first touch.
  region_homes before(std::uint32_t region, std::uint64_t time) const;
  /// Where the run left the region.
  region_homes at_end(std::uint32_t region) const;
  std::size_t nodes() const noexcept { return nodes_; }

 private:
  std::span<const recorded_home> rows_of(std::uint32_t region) const noexcept;
  region_homes homes_of(std::uint32_t region, std::span<const recorded_home> last) const;

  const recording& r_;
  std::size_t nodes_;
  std::vector<std::uint64_t> first_touch_;  // by region: when the first task that uses it started
};

/// By region: the task that wrote it last among those that had ended by `time`; -1: none. Cost: O(accesses).
std::vector<std::int32_t> last_writers(const recording&, std::uint64_t time);

}  // namespace kith::analysis
