// The throttle: a creator whose unfinished tasks have reached a bound helps to run them, down to half of it. In both engines.
//
// Helping is no wait: a creator that finds nothing to run goes on, above the bound if need be (`exceeded`).
#pragma once

#include <cstdint>
#include <limits>

namespace kith::life {

class throttle {
 public:
  /// Looks without a task before a creator goes on; before that the policy is told once, which may hold tasks back.
  static constexpr int patience = 256;

  /// 0: no bound.
  explicit constexpr throttle(std::uint64_t bound) noexcept
      : bound_(bound != 0 ? bound : std::numeric_limits<std::uint64_t>::max()) {}

  constexpr bool is_reached(std::uint64_t unfinished) const noexcept { return unfinished >= bound_; }
  /// Half the bound is left, so that the next look is far.
  constexpr bool is_far(std::uint64_t unfinished) const noexcept { return unfinished < bound_ - bound_ / 2; }

  /// The scope's owner creates so many tasks before it looks again.
  constexpr std::uint64_t owner_goes_on_for(std::uint64_t unfinished, bool exceeded) const noexcept {
    return exceeded ? 1 + bound_ / 4 : bound_ - unfinished;
  }
  /// The same for a task that fills its group: the counts are other workers' lines, so that it looks seldom.
  constexpr std::uint64_t member_goes_on_for(bool exceeded) const noexcept { return bound_ / (exceeded ? 4 : 16); }

 private:
  std::uint64_t bound_;
};

}  // namespace kith::life
