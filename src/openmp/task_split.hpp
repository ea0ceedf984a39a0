// How the iterations of a `taskloop` are spread over tasks.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith::openmp {

class task_split {
 public:
  /// `asked`: the number of tasks, or, if `is_grain`, of iterations that each has at least, but less than twice as
  /// many; 0: a task for each thread. `strict`: exactly as many, except the last task. `count` is not 0.
  task_split(std::uint64_t count, std::uint64_t asked, bool is_grain, bool strict, int threads) noexcept
      : left_(count) {
    if (is_grain && strict && asked != 0) {
      each_ = asked;
      return;
    }
    std::uint64_t tasks = asked != 0 ? asked : static_cast<std::uint64_t>(threads);
    if (is_grain && asked != 0) tasks = count / asked;
    tasks = std::clamp<std::uint64_t>(tasks, 1, count);
    each_ = count / tasks;
    longer_ = count % tasks;
  }

  /// Calls make(first, end) with the iterations of each task, numbered from 0.
  template <class Make>
  void for_each_task(const Make& make) {
    std::uint64_t done = 0;
    while (left_ > 0) {
      const std::uint64_t mine = std::min(left_, each_ + (longer_ > 0 ? 1 : 0));
      left_ -= mine;
      if (longer_ > 0) --longer_;
      make(done, done + mine);
      done += mine;
    }
  }

 private:
  std::uint64_t left_;
  std::uint64_t each_ = 1;
  std::uint64_t longer_ = 0;  // tasks that have one more, which come first
};

}  // namespace kith::openmp
