// The choices that make up one schedule, and the depth-first walk over all schedules. Used only by the checker.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kith::interleave {

class choices {
 public:
  choices() = default;
  /// The schedule that text() described. Throws std::invalid_argument.
  explicit choices(const std::string& text);

  /// Returns to the beginning of the schedule.
  void rewind() noexcept { at_ = 0; }
  /// One of 0..options-1: the same as last time as far as the schedule is known, and 0 beyond that.
  std::size_t pick(std::size_t options);
  /// Advances to the next schedule in depth-first order; false after the last.
  bool advance();
  /// True if the program asked for other choices than last time, which means that it depends on more than
  /// the schedule.
  bool diverged() const noexcept { return diverged_; }
  /// True if the program ended before all known choices were asked for, which is the same fault.
  bool unfinished() const noexcept { return at_ < stack_.size(); }
  std::string text() const;

 private:
  struct choice {
    std::size_t chosen;
    std::size_t options;  // 0: not known, because the schedule was read from text
  };
  std::vector<choice> stack_;
  std::size_t at_ = 0;
  bool diverged_ = false;
};

}  // namespace kith::interleave
