#include "analysis/addresses.hpp"

#include <kith/error.hpp>

#include <algorithm>

namespace kith::analysis {

void expect_addresses(const recording& r, const std::string& file) {
  if (!r.blocks.empty()) return;
  throw error(file + ": it has no addresses; `kith record --addresses -o " + file + " -- PROGRAM` records them",
              error_kind::input);
}

const std::vector<std::pair<std::uint64_t, std::uint64_t>>& byte_ranges::tidy() {
  std::ranges::sort(ranges_);
  std::size_t kept = 0;
  for (std::size_t i = 1; i < ranges_.size(); ++i) {
    if (ranges_[i].first <= ranges_[kept].second) {
      ranges_[kept].second = std::max(ranges_[kept].second, ranges_[i].second);
    } else {
      ranges_[++kept] = ranges_[i];
    }
  }
  if (!ranges_.empty()) ranges_.resize(kept + 1);
  limit_ = std::max<std::size_t>(4096, 2 * ranges_.size());
  return ranges_;
}

std::string location_of(const recorded_site& s) {
  if (s.line != 0) return s.file + ":" + std::to_string(s.line);
  if (!s.file.empty()) return s.file + ":?";
  if (!s.function.empty()) return s.function;
  return s.at.empty() ? "?" : s.at;
}

}  // namespace kith::analysis
