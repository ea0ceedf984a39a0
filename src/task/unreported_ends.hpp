// Ends of tasks that a worker has not reported yet: a scope gets them in batches.
//
// Each worker has one, for the scope whose tasks it runs; all workers share the scope's count. Invariants (C1
// and C4 of scope.hpp rest on them):
//  H1  The number held back is never negative, so the scope's count is never ahead of the ends.
//  H2  Runs are begun before any worker can see their tasks, so their ends come later.
//  H3  When its owner leaves a scope (scope.hpp, C5), it adds to the same count, and the worker whose addition
//      makes the count `left` is the last one.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>
#include <utility>

namespace kith {

class unreported_ends {
 public:
  /// Ends after which a worker reports.
  static constexpr std::uint64_t batch = 64;

  /// Counts one more end; true if it is time to report.
  bool end() noexcept { return ++ends_ >= batch; }
  /// Begins runs that are about to be queued, by a worker that does not own the scope. They are subtracted from
  /// the ends held back. If these are too few, the rest is borrowed from the scope, and some more in advance.
  void begin(std::uint64_t runs, atomic<std::uint64_t>& ended) noexcept {
    if (ends_ < runs) {
      const std::uint64_t borrowed = runs - ends_ + batch / 2;
      ended.fetch_sub(borrowed, relaxed);  // H2
      ends_ += borrowed;
    }
    ends_ -= runs;
  }
  std::uint64_t ends() const noexcept { return ends_; }
  /// Adds the ends held back to the scope's count, and returns the new count.
  std::uint64_t report(atomic<std::uint64_t>& ended) noexcept {
    const std::uint64_t added = std::exchange(ends_, 0);
    // release: pairs with the waiter's load of the count; the waiter sees what the tasks wrote. acquire: pairs with
    // the other reports; the worker that adds the last end of a scope that was left sees what all its tasks wrote.
    return ended.fetch_add(added, acq_rel) + added;
  }

  /// The count of a scope that was left, once its last task has ended. No other scope's count comes near it.
  static constexpr std::uint64_t left = std::uint64_t{1} << 62;
  /// Called by the owner to leave a scope; `not_ended_here` of its tasks did not end on the owner's thread. True if all
  /// of these have ended: then no other worker will see the count become `left`.
  static bool leave(std::uint64_t not_ended_here, atomic<std::uint64_t>& ended) noexcept {
    // release: pairs with report(); the worker that adds the last end sees what the owner wrote. acquire: if the last
    // end came first, the owner sees what the tasks wrote.
    return ended.fetch_add(left - not_ended_here, acq_rel) == not_ended_here;
  }

 private:
  std::uint64_t ends_ = 0;
};

}  // namespace kith
