// Asks the system for the actual node of pages, for regions that got their home by first touch.
//
// The assumed home of such a region is right if the region's first user was the first to touch its pages, and no other
// region shares them. It is wrong if the data was filled before the run, or if a huge page holds several regions. A
// region that is found elsewhere gets its true home, and is counted. A sample is asked for; while most of those asked
// for last were elsewhere, all are. Each worker has its own checker; one system call serves some thirty regions.
#pragma once

#include "memory/memory_space.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

class home_check {
 public:
  /// Asks nothing if nodes are pretended, if memory is not touched, or if the system does not tell the nodes of pages.
  explicit home_check(const memory_space& memory);

  /// A task on this worker will be the first to use the region.
  void add(region& r) {
    if (!asks_) return;
    ++seen_;
    if (seen_ <= always || asks_for_all_ || seen_ % one_in == 0) waiting_.push_back(&r);
  }
  /// True if enough regions for one system call were added.
  bool full() const noexcept { return waiting_.size() >= enough; }
  bool empty() const noexcept { return waiting_.empty(); }

  struct result {
    std::uint64_t asked = 0;      // regions with pages that the system was asked about
    std::uint64_t elsewhere = 0;  // regions on another node than assumed
  };
  /// Checks the regions that were added, and forgets them. Regions that were not touched do not count. For each that
  /// is elsewhere, note(region, assumed, actual) is called after it got its true home.
  template <class Note>
  result look(const Note& note) {
    result found;
    ask();
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      region& r = *waiting_[i];
      std::int16_t assumed = r.home.load(relaxed);
      const node_id actual = nodes_[i] < 0 ? node_id() : memory_.home_of_page_on(nodes_[i]);
      if (!actual || assumed < 0) continue;  // untouched, or given back meanwhile
      ++found.asked;
      if (actual.value == assumed || !r.home.compare_exchange_strong(assumed, region::number_of(actual), relaxed))
        continue;
      ++found.elsewhere;
      note(std::as_const(r), node_id(assumed), actual);
    }
    waiting_.clear();
    if (found.asked != 0) asks_for_all_ = 2 * found.elsewhere > found.asked;
    return found;
  }

 private:
  /// Fills nodes_: the system's node for each region that waits, below 0 if it does not tell.
  void ask();

  static constexpr std::uint64_t always = 64, one_in = 16;  // all of the first 64, then one in 16
  static constexpr std::size_t enough = 32;
  const memory_space& memory_;
  const bool asks_;
  std::uint64_t seen_ = 0;
  bool asks_for_all_ = false;
  std::vector<region*> waiting_;
  std::vector<void*> pages_;
  std::vector<int> nodes_;
};

}  // namespace kith
