#include "analysis/addresses.hpp"

#include <kith/error.hpp>

#include <algorithm>

namespace kith::analysis {

void expect_addresses(const recording& r, const std::string& file) {
  if (!r.blocks.empty()) return;
  throw error(file + ": it has no addresses; `kith record --addresses -o " + file + " -- PROGRAM` records them",
              error_kind::input);
}

namespace {
std::vector<bool> without_fixed_size(const recording& r) {
  std::vector<bool> variable;
  for (const recorded_site& s : r.sites) variable.push_back(s.bytes == 0);
  return variable;
}
}  // namespace

touch_reader::touch_reader(const recording& r) : r_(r), reader_(without_fixed_size(r)) {}

std::uint64_t touch_reader::gather(std::size_t task) {
  std::uint64_t touches = 0;
  bytes_.clear();
  if (task + 1 >= r_.first_stream.size()) return 0;
  for (std::uint64_t s = r_.first_stream[task]; s < r_.first_stream[task + 1]; ++s) {
    touches += r_.streams[s].touches;
    bytes_.insert(bytes_.end(), r_.streams[s].bytes.begin(), r_.streams[s].bytes.end());
  }
  return touches;
}

void touch_reader::refuse(std::size_t task, const char* what) {
  throw error("the recording is damaged: table stream: of task " + std::to_string(task) + ": " + what,
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

std::string place_of(const recorded_site& s) {
  if (s.line != 0) return s.file + ":" + std::to_string(s.line);
  if (!s.function.empty()) return s.function;
  return s.at.empty() ? "?" : s.at;
}

}  // namespace kith::analysis
