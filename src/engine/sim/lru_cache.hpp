// An LRU cache of chunks, limited by bytes.
//
// The lines are a ring through line 0, which holds nothing and is between the oldest and the newest, so the
// ends of the list need no special case. The lines are few and close together in memory. The index by chunk is
// large, and is read in the order in which tasks walk their data.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::sim {

class lru_cache {
 public:
  struct line {
    std::uint32_t chunk = 0, newer = 0, older = 0;
    std::uint32_t bytes = 0;
  };

  /// For chunks 0 .. chunks - 1. Holds up to `capacity` bytes, and always the newest chunk, however large.
  lru_cache(std::uint64_t chunks, std::uint64_t capacity) : at_(chunks, 0), capacity_(capacity) {
    lines_.reserve(64);
    lines_.emplace_back();
  }

  bool holds(std::uint32_t chunk) const noexcept { return at_[chunk] != 0; }
  /// Prefetches the entry of a chunk that will be used soon.
  void expect(std::uint32_t chunk) const noexcept { __builtin_prefetch(&at_[chunk], 1); }

  /// Makes the chunk the newest, and adds it if it is not there. Bytes of it that the cache already holds stay,
  /// because a neighbour may read only one row of a block. Afterwards the cache may be too full; the caller
  /// must then drop the oldest chunks.
  void use(std::uint32_t chunk, std::uint64_t bytes) {
    std::uint32_t i = at_[chunk];
    if (i != 0) {
      unlink(i);
    } else {
      at_[chunk] = i = free_line();
      lines_[i].chunk = chunk;
      lines_[i].bytes = 0;
    }
    line& l = lines_[i];
    if (bytes > l.bytes) {
      used_ += bytes - l.bytes;
      l.bytes = static_cast<std::uint32_t>(bytes);
    }
    line& ends = lines_[0];
    l.newer = 0;
    l.older = ends.older;
    lines_[ends.older].newer = i;
    ends.older = i;
  }
  bool too_full() const noexcept { return used_ > capacity_ && lines_[0].newer != lines_[0].older; }
  /// REQUIRES: it is not empty.
  const line& oldest() const noexcept { return lines_[lines_[0].newer]; }
  void drop_oldest() noexcept { remove(lines_[0].newer); }
  /// REQUIRES: it holds the chunk.
  void drop(std::uint32_t chunk) noexcept { remove(at_[chunk]); }
  void clear() {
    at_.assign(at_.size(), 0);
    lines_.assign(1, {});
    free_ = 0;
    used_ = 0;
  }

 private:
  void unlink(std::uint32_t i) noexcept {
    const line& l = lines_[i];
    lines_[l.newer].older = l.older;
    lines_[l.older].newer = l.newer;
  }
  void remove(std::uint32_t i) noexcept {
    unlink(i);
    line& l = lines_[i];
    used_ -= l.bytes;
    at_[l.chunk] = 0;
    l.older = free_;
    free_ = i;
  }
  std::uint32_t free_line() {
    const std::uint32_t i = free_;
    if (i != 0) {
      free_ = lines_[i].older;
      return i;
    }
    lines_.emplace_back();
    return static_cast<std::uint32_t>(lines_.size() - 1);
  }

  std::vector<std::uint32_t> at_;  // by chunk: its line; 0: none
  std::vector<line> lines_;
  std::uint32_t free_ = 0;  // the free lines, linked by `older`
  std::uint64_t capacity_, used_ = 0;
};

}  // namespace kith::sim
