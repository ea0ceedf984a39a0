// Vector clocks: the events that a thread of an explored program may rely on. Used only by the checker.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace kith::interleave {

/// The threads of a program, including the one that builds and checks it (number 0).
inline constexpr int max_threads = 8;

class vector_clock {
 public:
  std::uint32_t operator[](int thread) const noexcept { return time_[static_cast<std::size_t>(thread)]; }
  void tick(int thread) noexcept { ++time_[static_cast<std::size_t>(thread)]; }
  void join(const vector_clock& other) noexcept {
    for (std::size_t i = 0; i < time_.size(); ++i) time_[i] = std::max(time_[i], other.time_[i]);
  }
  /// True if what `thread` did at its time `when` happened before the present of this clock's holder.
  bool covers(int thread, std::uint32_t when) const noexcept { return (*this)[thread] >= when; }

 private:
  std::array<std::uint32_t, max_threads> time_{};
};

}  // namespace kith::interleave
