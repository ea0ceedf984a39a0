// One level of one core's private caches, in fidelity *line*: sets that replace their least recently used line.
//
// An entry of a set is a line's number, shifted, and a mark, whose meaning is the protocol's (line_caches.hpp,
// home_caches.hpp). A set's entries are in order of use, the most recently used first; empty ones are last. For one
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::sim {

/// Sets and lines of a set.
struct cache_shape {
  std::uint32_t sets = 1;  // a power of two
  std::uint32_t ways = 1;
};

class cache_level {
 public:
  static constexpr std::uint32_t marked = 1, none = ~std::uint32_t{0};

  explicit cache_level(cache_shape s)
      : mask_(s.sets - 1), ways_(s.ways), entries_(std::size_t{s.sets} * s.ways, none) {}

  const std::uint32_t* find(std::uint32_t line) const noexcept {
    const std::uint32_t* const set = entries_.data() + std::size_t{line & mask_} * ways_;
    for (std::uint32_t w = 0; w < ways_; ++w) {
      if (set[w] >> 1 == line) return set + w;
    }
    return nullptr;
  }
  std::uint32_t* find(std::uint32_t line) noexcept {
    return const_cast<std::uint32_t*>(static_cast<const cache_level&>(*this).find(line));
  }
  /// Makes the line the most recently used one; null if it is not here.
  std::uint32_t* use(std::uint32_t line) noexcept {
    std::uint32_t* const set = set_of(line);
    if (set[0] >> 1 == line) return set;
    for (std::uint32_t w = 1; w < ways_; ++w) {
      if (set[w] >> 1 != line) continue;
      const std::uint32_t entry = set[w];
      shift(set, w);
      set[0] = entry;
      return set;
    }
    return nullptr;
  }
  /// REQUIRES: the line is not here. Returns the entry that it replaces, or none.
  std::uint32_t insert(std::uint32_t entry) noexcept {
    std::uint32_t* const set = set_of(entry >> 1);
    const std::uint32_t lost = set[ways_ - 1];
    shift(set, ways_ - 1);
    set[0] = entry;
    return lost;
  }
  /// Begins to load the line's set.
  void prefetch(std::uint32_t line) const noexcept { __builtin_prefetch(&entries_[std::size_t{line & mask_} * ways_]); }
  /// The entry that insert() would replace for the line, or none.
  std::uint32_t next_lost(std::uint32_t line) const noexcept {
    return entries_[std::size_t{line & mask_} * ways_ + ways_ - 1];
  }
  void remove(std::uint32_t line) noexcept {
    std::uint32_t* const at = find(line);
    if (at == nullptr) return;
    std::uint32_t* const last = set_of(line) + ways_ - 1;
    for (std::uint32_t* e = at; e != last; ++e) *e = *(e + 1);
    *last = none;
  }
  void clear() noexcept { std::ranges::fill(entries_, none); }

 private:
  std::uint32_t* set_of(std::uint32_t line) noexcept { return entries_.data() + std::size_t{line & mask_} * ways_; }
  static void shift(std::uint32_t* set, std::uint32_t end) noexcept {
    for (std::uint32_t w = end; w > 0; --w) set[w] = set[w - 1];
  }
  std::uint32_t mask_, ways_;
  std::vector<std::uint32_t> entries_;
};

}  // namespace kith::sim
