// When a link or a controller is busy. Requests do not come in the order of time: a line's request is far ahead of its
// data. So each takes the first gap that is long enough, and a later request may take an earlier gap.
#pragma once

#include "engine/sim/program.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace kith::sim {

class reservations {
 public:
  /// Takes the first gap of `length` that begins at `from` or later, and returns its beginning. Forgets what ended
  /// before `now`: no request may be for an earlier time.
  picoseconds take(picoseconds from, picoseconds length, picoseconds now) {
    if (from < last_.end) return take_earlier(from, length, now);
    if (length == 0) return from;
    if (from == last_.end) {
      last_.end += length;
      return from;
    }
    if (last_.end > now) keep(last_, now);
    last_ = {from, from + length};
    return from;
  }

 private:
  struct interval {
    picoseconds begin = 0, end = 0;
  };
  static constexpr std::size_t most_ended = 16;

  /// For a request that begins before the last interval ends.
  picoseconds take_earlier(picoseconds from, picoseconds length, picoseconds now) {
    if (from >= last_.begin && from + length > last_.begin) return std::exchange(last_.end, last_.end + length);
    if (from + length <= last_.begin && (earlier_.empty() || earlier_.back().end <= from)) {  // just before the last
      if (length == 0) return from;
      if (!earlier_.empty() && earlier_.back().end == from) {
        earlier_.back().end += length;
      } else {
        keep({from, from + length}, now);
      }
      return from;
    }
    earlier_.push_back(last_);
    forget(now);
    std::size_t at = earlier_.size();
    while (at != 0 && earlier_[at - 1].end > from) --at;  // the first that ends later
    for (; at != earlier_.size() && from + length > earlier_[at].begin; ++at) from = std::max(from, earlier_[at].end);
    if (length != 0) insert(at, {from, from + length});
    last_ = earlier_.back();
    earlier_.pop_back();
    return from;
  }
  void keep(interval i, picoseconds now) {
    if (earlier_.size() >= most_ended) forget(now);
    earlier_.push_back(i);
  }
  void forget(picoseconds now) {
    const auto first = std::ranges::find_if(earlier_, [&](const interval& i) { return i.end > now; });
    earlier_.erase(earlier_.begin(), first);
  }
  void insert(std::size_t at, interval i) {
    if (at != 0 && earlier_[at - 1].end == i.begin) {
      earlier_[at - 1].end = i.end;
    } else {
      earlier_.insert(earlier_.begin() + static_cast<std::ptrdiff_t>(at), i);
    }
  }

  // In order; none overlap. Most requests come after all others and need only the last interval, which is in the
  // object itself. Some of the earlier ones may have ended.
  interval last_;
  std::vector<interval> earlier_;
};

}  // namespace kith::sim
