// Asks the system where pages truly are, for a sample of the regions that got their home by first touch.
//
// What a runtime believes of such a region is right if its first user was the first to touch the pages, and had them to
// itself. Whoever filled the data before the run, or a huge page that holds several regions, makes it wrong. A region that is
// found elsewhere gets its true home, and is counted. A worker's own; one system call for some thirty regions.
#pragma once

#include "memory/memory_space.hpp"

#include <cstdint>
#include <vector>

namespace kith {

class home_check {
 public:
  /// Where nodes are pretended, nothing is touched, or the system does not say where pages are, nothing is asked.
  explicit home_check(const memory_space& of);

  /// A task that runs here will be the first to use the region.
  void add(region& r) {
    if (!asks_) return;
    ++seen_;
    if (seen_ <= always || seen_ % one_in == 0) waiting_.push_back(&r);
  }
  /// True if enough has come together.
  bool full() const noexcept { return waiting_.size() >= enough; }
  bool empty() const noexcept { return waiting_.empty(); }

  struct result {
    std::uint64_t asked = 0;      // that have pages
    std::uint64_t elsewhere = 0;  // than was believed
  };
  /// Of what was added, and forgets it. Regions that were not touched after all do not count.
  result look();

 private:
  static constexpr std::uint64_t always = 64, one_in = 16;  // the first ones, and of the rest
  static constexpr std::size_t enough = 32;
  const memory_space& of_;
  const bool asks_;
  std::uint64_t seen_ = 0;
  std::vector<region*> waiting_;
  std::vector<void*> pages_;
  std::vector<int> nodes_;
};

}  // namespace kith
