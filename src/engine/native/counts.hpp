// What the counters of a worker's thread count for each task, while it runs the task's own code.
//
// The counters are read once where a worker begins or ends a body or a wait. What was counted since the reading before
// belongs to the code that ran until then. So a task on top of which another one runs, inline or in a wait, is not
// charged for that one, and what a worker does to find a task belongs to no task. Invariant: a stack is left only
// inside a wait, so no body counts when stacks are switched.
// Only the worker's thread calls what is here.
#pragma once

#include "base/clock.hpp"
#include "base/counters.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace kith::native {

/// What was counted for one body, on its stack.
struct body_counts {
  std::array<std::uint64_t, counters> values{};
  std::uint64_t enabled = 0, running = 0;  // ns
  bool whole = true;                       // each reading has succeeded
};

class worker_counts {
 public:
  /// Whether tasks are counted: the only test on a path that does not count.
  bool on() const noexcept { return on_; }
  /// Starts to count the events of `wanted` with the counters of the calling thread. Returns those that can be counted.
  counter_set begin(counter_set wanted) noexcept;
  counter_set counted() const noexcept { return there_; }
  counter_set in_turns() const noexcept { return in_turns_; }

  /// Charges what is counted from here on to `next`; null: to no body. Returns the body that was charged before.
  body_counts* give_to(body_counts* next) noexcept {
    if (next != now_) read();
    return std::exchange(now_, next);
  }

 private:
  void read() noexcept;

  bool on_ = false;
  bool failed_ = false;  // whether the last reading failed
  counter_source* source_ = nullptr;
  counter_set there_, in_turns_;
  counter_reading last_;
  body_counts* now_ = nullptr;
};

/// Turns raw counts into those of a recording: estimates where groups of counters took turns. Leaves out of the
/// returned set what was never counted.
counter_set settle(body_counts&, counter_set counted, counter_set in_turns) noexcept;

/// While it lives, the calling worker waits, and counts for no task.
class uncounted {
 public:
  explicit uncounted(worker_counts& c) noexcept : counts_(c.on() ? &c : nullptr) {
    if (counts_ != nullptr) [[unlikely]]
      before_ = counts_->give_to(nullptr);
  }
  ~uncounted() {
    if (counts_ != nullptr) [[unlikely]]
      counts_->give_to(before_);
  }
  uncounted(const uncounted&) = delete;
  uncounted& operator=(const uncounted&) = delete;

 private:
  worker_counts* const counts_;
  body_counts* before_ = nullptr;
};

}  // namespace kith::native
