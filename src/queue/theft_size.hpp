// How many tasks of a worker a thief takes at once, so that these take much longer than the theft.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>

namespace kith {

class theft_size {
 public:
  theft_size() = default;
  /// For tasks that take `mean`, where those below `short_task` are too short to be stolen one by one (the same unit).
  theft_size(std::uint32_t mean, std::uint32_t short_task) noexcept
      : tasks_(std::bit_ceil(static_cast<std::uint8_t>(
            std::min((most_long * std::uint64_t{short_task} - 1) / std::max(mean, 1u), std::uint64_t{most - 1}) + 1))) {
  }

  /// So many together take at least 32 times as long as a short task, if 128 do. A power of two, so that it seldom
  /// changes.
  int tasks() const noexcept { return tasks_; }
  /// Whether stealing one of them does not pay.
  bool of_short_tasks() const noexcept { return tasks_ > most_long; }
  auto operator<=>(const theft_size&) const = default;

 private:
  static constexpr std::uint8_t most_long = 32, most = 128;
  std::uint8_t tasks_ = 1;
};

}  // namespace kith
