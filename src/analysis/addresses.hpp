// What tasks touched, from a recording with addresses (`kith record --addresses`).
#pragma once

#include "recording/touches.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::analysis {

/// Throws kith::error that names `file` if the recording has no addresses.
void expect_addresses(const recording& r, const std::string& file);

/// Bytes as ranges [begin, end), in any order until they are tidy.
class byte_ranges {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    if (!ranges_.empty() && begin >= ranges_.back().first && begin <= ranges_.back().second) {
      ranges_.back().second = std::max(ranges_.back().second, end);
      return;
    }
    ranges_.emplace_back(begin, end);
    if (ranges_.size() >= limit_) tidy();
  }
  /// Merges the ranges and returns them in order, none next to another.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& tidy();
  bool empty() const noexcept { return ranges_.empty(); }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
  std::size_t limit_ = 4096;
};

/// FILE:LINE, or what else is known of a site; FILE:? for code that several lines share.
std::string location_of(const recorded_site& s);

}  // namespace kith::analysis
