// Times of several clocks that are moved because an effect would come before its cause. For merge.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith {

class time_corrections {
 public:
  /// Moves `time` to `least` if it is earlier.
  void correct(std::uint64_t& time, std::uint64_t least) noexcept {
    if (time >= least) return;
    ++count_;
    most_ = std::max(most_, least - time);
    time = least;
  }
  /// How many times were moved, and the largest distance.
  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t most() const noexcept { return most_; }

 private:
  std::uint64_t count_ = 0, most_ = 0;
};

}  // namespace kith
