// An LRU cache of chunks, limited by bytes.
//
// The entries are a ring through entry 0, which holds nothing and is between the oldest and the newest, so the
// ends of the list need no special case. The entries are few and close together in memory. The index by chunk is
// large, and is read in the order in which tasks walk their data.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::sim {

class lru_cache {
 public:
  struct entry {
    std::uint32_t chunk = 0, newer = 0, older = 0;
    std::uint32_t bytes = 0;
  };

  /// For chunks 0 .. chunks - 1. Holds up to `capacity` bytes, and always the newest chunk, however large.
  lru_cache(std::uint64_t chunks, std::uint64_t capacity) : entry_of_(chunks, 0), capacity_(capacity) {
    entries_.reserve(64);
    entries_.emplace_back();
  }

  bool holds(std::uint32_t chunk) const noexcept { return entry_of_[chunk] != 0; }
  /// Prefetches the entry of a chunk that will be used soon.
  void expect(std::uint32_t chunk) const noexcept { __builtin_prefetch(&entry_of_[chunk], 1); }

  /// Makes the chunk the newest, and adds it if it is not there. Bytes of it that the cache already holds stay,
  /// because a neighbour may read only one row of a block. Afterwards the cache may be too full; the caller
  /// must then drop the oldest chunks.
  void use(std::uint32_t chunk, std::uint64_t bytes) {
    std::uint32_t i = entry_of_[chunk];
    if (i != 0) {
      unlink(i);
    } else {
      entry_of_[chunk] = i = free_entry();
      entries_[i].chunk = chunk;
      entries_[i].bytes = 0;
    }
    entry& l = entries_[i];
    if (bytes > l.bytes) {
      used_ += bytes - l.bytes;
      l.bytes = static_cast<std::uint32_t>(bytes);
    }
    entry& ends = entries_[0];
    l.newer = 0;
    l.older = ends.older;
    entries_[ends.older].newer = i;
    ends.older = i;
  }
  bool too_full() const noexcept { return used_ > capacity_ && entries_[0].newer != entries_[0].older; }
  /// REQUIRES: it is not empty.
  const entry& oldest() const noexcept { return entries_[entries_[0].newer]; }
  void drop_oldest() noexcept { remove(entries_[0].newer); }
  /// REQUIRES: it holds the chunk.
  void drop(std::uint32_t chunk) noexcept { remove(entry_of_[chunk]); }
  void clear() {
    entry_of_.assign(entry_of_.size(), 0);
    entries_.assign(1, {});
    free_ = 0;
    used_ = 0;
  }

 private:
  void unlink(std::uint32_t i) noexcept {
    const entry& l = entries_[i];
    entries_[l.newer].older = l.older;
    entries_[l.older].newer = l.newer;
  }
  void remove(std::uint32_t i) noexcept {
    unlink(i);
    entry& l = entries_[i];
    used_ -= l.bytes;
    entry_of_[l.chunk] = 0;
    l.older = free_;
    free_ = i;
  }
  std::uint32_t free_entry() {
    const std::uint32_t i = free_;
    if (i != 0) {
      free_ = entries_[i].older;
      return i;
    }
    entries_.emplace_back();
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }

  std::vector<std::uint32_t> entry_of_;  // by chunk: its entry; 0: none
  std::vector<entry> entries_;
  std::uint32_t free_ = 0;  // the free entries, linked by `older`
  std::uint64_t capacity_, used_ = 0;
};

}  // namespace kith::sim
