// Ends of tasks that a worker has not told yet: a scope hears of them in batches.
//
// One for each worker, for the scope whose tasks it runs; the scope's count is everybody's. Invariants (C1 and C4 of
// scope.hpp rest on them):
//  H1  What is held back is never negative, so the scope's count is never ahead of what has ended.
//  H2  Runs are begun before anybody can see their tasks: whoever ends one of them comes later.
//  H3  A scope that its owner has left (scope.hpp, C5) is told so by an addition to the same count, and whoever makes the
//      count `left` is the last one.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>
#include <utility>

namespace kith {

class unreported_ends {
 public:
  /// Ends after which a worker reports.
  static constexpr std::uint64_t batch = 64;

  /// One more; true if it is time to report.
  bool end() noexcept { return ++ends_ >= batch; }
  /// Runs that are about to be queued, by a worker that does not own the scope. They are taken off what is held back;
  /// what is missing is borrowed from the scope, with some more in advance.
  void begin(std::uint64_t runs, atomic<std::uint64_t>& ended) noexcept {
    if (ends_ < runs) {
      const std::uint64_t borrowed = runs - ends_ + batch / 2;
      ended.fetch_sub(borrowed, relaxed);  // H2
      ends_ += borrowed;
    }
    ends_ -= runs;
  }
  std::uint64_t ends() const noexcept { return ends_; }
  /// Adds what is held back to the scope's count; returns what that is now.
  std::uint64_t report(atomic<std::uint64_t>& ended) noexcept {
    const std::uint64_t added = std::exchange(ends_, 0);
    // release: pairs with the waiter's look at the count; it sees what the tasks wrote. acquire: whoever adds the last end
    // of a scope that was left sees what all its tasks wrote.
    return ended.fetch_add(added, acq_rel) + added;
  }

  /// What the count of a scope that was left is when its last task has ended. No other scope's count comes near it.
  static constexpr std::uint64_t left = std::uint64_t{1} << 62;
  /// The owner leaves a scope in which so many tasks have not ended on its own thread. True if all have: then nobody else
  /// will see the count become `left`.
  static bool leave(std::uint64_t not_ended_here, atomic<std::uint64_t>& ended) noexcept {
    // release: whoever adds the last end sees what the owner left. acquire: if that was before us, we see what tasks wrote.
    return ended.fetch_add(left - not_ended_here, acq_rel) == not_ended_here;
  }

 private:
  std::uint64_t ends_ = 0;
};

}  // namespace kith
