// The throttle: a creator whose unfinished tasks reach a bound helps to run tasks until fewer than half as many
// are unfinished. Used by both engines.
//
// Helping is not a wait: a creator that finds nothing to run continues, above the bound if necessary (`exceeded`).
#pragma once

#include <cstdint>
#include <limits>

namespace kith::life {

class throttle {
 public:
  /// How many searches in a row may find no task before policy::waiting() is called once, because the policy may hold
  /// tasks back, and after that before the creator continues.
  static constexpr int most_failed_searches = 256;

  /// 0: no bound.
  explicit constexpr throttle(std::uint64_t bound) noexcept
      : bound_(bound != 0 ? bound : std::numeric_limits<std::uint64_t>::max()) {}

  constexpr bool is_reached(std::uint64_t unfinished) const noexcept { return unfinished >= bound_; }
  /// The low-water mark: below it at least half the bound is free again, so that the next check is far away.
  constexpr std::uint64_t low_mark() const noexcept { return bound_ - bound_ / 2; }
  constexpr bool is_below_low_mark(std::uint64_t unfinished) const noexcept { return unfinished < low_mark(); }

  /// How many tasks the scope's owner creates before it checks again. At least one, and not more than the bound, though
  /// members of a group may have created more since `exceeded` was found.
  constexpr std::uint64_t owner_goes_on_for(std::uint64_t unfinished, bool exceeded) const noexcept {
    return exceeded || is_reached(unfinished) ? 1 + bound_ / 4 : bound_ - unfinished;
  }
  /// The same for a task that creates in its group. It checks seldom, because other workers write the lines of
  /// the counts.
  constexpr std::uint64_t member_goes_on_for(bool exceeded) const noexcept { return bound_ / (exceeded ? 4 : 16); }

 private:
  std::uint64_t bound_;
};

}  // namespace kith::life
