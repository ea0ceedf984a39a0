// What the counters of a worker's thread count for each task, while it runs the task's own code.
//
// The counters are read where a worker begins and ends a body, and where it begins and ends a wait: once each. What was
// counted since the reading before belongs to the code that ran until then. So a task that another one runs on top of,
// inline or in a wait, gets nothing of it, and what a worker does to find a task belongs to no task. Invariant:
//  K1  A stack is left only inside a wait, so no body counts when stacks are switched.
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
  /// Whether tasks are counted: the one test on a path that does not count.
  bool on() const noexcept { return on_; }
  /// Counts from now on what is in `wanted`, by the counters of the calling thread. Returns what could be opened.
  counter_set begin(counter_set wanted) noexcept;
  counter_set counted() const noexcept { return there_; }
  counter_set in_turns() const noexcept { return in_turns_; }

  /// What is counted from now on belongs to this body; null: to none. Returns the body before it.
  body_counts* give_to(body_counts* next) noexcept {
    if (next != now_) read();
    return std::exchange(now_, next);
  }

 private:
  void read() noexcept;

  bool on_ = false;
  bool failed_ = false;  // the last reading
  counter_source* source_ = nullptr;
  counter_set there_, in_turns_;
  counter_reading last_;
  body_counts* now_ = nullptr;
};

/// The counts as a recording has them: estimates where groups of counters took turns. What did not count at all is left
/// out of the set that is returned.
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
