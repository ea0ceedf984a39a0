// When a link or a controller is busy. Requests do not come in the order of time: a line's request is far ahead of its
// data. So each takes the first gap that is long enough, and a later request may take an earlier gap.
#pragma once

#include "engine/sim/program.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace kith::sim {

class reservations {
 public:
  /// Takes the first gap of `length` that begins at `from` or later, and returns its beginning. Forgets what ended
  /// before `now`: no request may be for an earlier time.
  picoseconds take(picoseconds from, picoseconds length, picoseconds now) {
    while (gone_ != taken_.size() && taken_[gone_].end <= now) ++gone_;
    if (gone_ == taken_.size() || gone_ >= most_gone) forget();
    std::size_t at = taken_.size();
    while (at != gone_ && taken_[at - 1].end > from) --at;  // the first that ends later
    for (; at != taken_.size() && from + length > taken_[at].begin; ++at) from = std::max(from, taken_[at].end);
    if (length != 0) insert(at, {from, from + length});
    return from;
  }

 private:
  struct interval {
    picoseconds begin, end;
  };
  static constexpr std::size_t most_gone = 16;

  void forget() {
    taken_.erase(taken_.begin(), taken_.begin() + static_cast<std::ptrdiff_t>(gone_));
    gone_ = 0;
  }
  void insert(std::size_t at, interval i) {
    if (at != gone_ && taken_[at - 1].end == i.begin) {
      taken_[at - 1].end = i.end;
    } else {
      taken_.insert(taken_.begin() + static_cast<std::ptrdiff_t>(at), i);
    }
  }
  std::vector<interval> taken_;  // in order; none overlap
  std::size_t gone_ = 0;         // the number of the first ones that have ended
};

}  // namespace kith::sim
