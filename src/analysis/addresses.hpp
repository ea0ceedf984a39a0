// What tasks touched, from a recording with addresses (`kith record --addresses`).
#pragma once

#include "recording/address_stream.hpp"
#include "recording/recording.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith::analysis {

/// Throws kith::error that names `file` if the recording has no addresses.
void expect_addresses(const recording& r, const std::string& file);

/// One touch of a task.
struct touch {
  const recorded_site* site;
  const recorded_block* block;
  std::uint64_t offset;  // in the block; on the task's own stack: below where the body began
  std::uint64_t bytes;

  bool reads() const noexcept { return site->mode != recorded_site::writes; }
  bool writes() const noexcept { return site->mode != recorded_site::reads; }
};

/// Reads streams. Not for several threads at once.
class touch_reader {
 public:
  explicit touch_reader(const recording& r);

  /// Calls each(touch) for what the task touched, in order. Throws kith::error if its stream is damaged. Costs O(touches).
  template <class Each>
  void read(std::size_t task, Each&& each) {
    const std::uint64_t touches = gather(task);
    if (touches == 0 && bytes_.empty()) return;
    bool known = true;
    const char* const wrong = reader_.read(bytes_, touches, [&](const stream_touch& t) {
      if (t.block >= r_.blocks.size()) {
        known = false;
        return;
      }
      const recorded_site& s = r_.sites[t.site];
      each(touch{&s, &r_.blocks[t.block], t.offset, s.bytes != 0 ? s.bytes : t.bytes});
    });
    if (wrong != nullptr || !known) refuse(task, wrong != nullptr ? wrong : "it names a block that is not there");
  }

 private:
  std::uint64_t gather(std::size_t task);
  [[noreturn]] static void refuse(std::size_t task, const char* what);

  const recording& r_;
  stream_reader reader_;
  std::vector<std::uint8_t> bytes_;
};

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
  /// In order, none next to another.
  const std::vector<std::pair<std::uint64_t, std::uint64_t>>& tidy();
  bool empty() const noexcept { return ranges_.empty(); }

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;
  std::size_t limit_ = 4096;
};

/// FILE:LINE, or what else is known of a place.
std::string place_of(const recorded_site& s);

}  // namespace kith::analysis
