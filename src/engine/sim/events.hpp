// What happens next: workers by the time at which they go on, equals in the order in which they were put there.
#pragma once

#include "engine/sim/program.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith::sim {

class event_queue {
 public:
  struct entry {
    picoseconds at;
    std::uint64_t order;
    std::uint32_t worker;
    bool operator>(const entry& o) const noexcept { return at != o.at ? at > o.at : order > o.order; }
  };
  void push(picoseconds at, std::uint32_t worker) {
    all_.push_back({at, order_++, worker});
    std::push_heap(all_.begin(), all_.end(), std::greater<>());
  }
  entry pop() {
    std::pop_heap(all_.begin(), all_.end(), std::greater<>());
    const entry e = all_.back();
    all_.pop_back();
    return e;
  }
  bool empty() const noexcept { return all_.empty(); }
  /// When the first one is due. REQUIRES: not empty.
  picoseconds first() const noexcept { return all_.front().at; }

 private:
  std::vector<entry> all_;
  std::uint64_t order_ = 0;
};

}  // namespace kith::sim
