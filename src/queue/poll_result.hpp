// Results of looking for work.
#pragma once

namespace kith {

class task;

/// The result of an attempt to steal one task.
enum class [[nodiscard]] steal_result : unsigned char {
  got,
  empty,
  lost,      // another worker was faster; another try may succeed
  unwanted,  // the thief does not take what is there
};

/// The result of policy::next(), which makes at most one remote probe per call.
struct [[nodiscard]] poll_result {
  enum answer : unsigned char {
    found,  // a task
    retry,  // no task in this queue; ask again to look at the next one
    later,  // no task that is worth taking yet; frequent looks would slow down the worker that has it
    watch,  // no task yet; the policy counts how often it is asked, and no worker is slowed down
    empty,  // no task anywhere
  } kind = empty;
  task* work = nullptr;

  static poll_result got(task& t) noexcept { return {found, &t}; }
  /// `t` if there is one, else `otherwise`.
  static poll_result at(task* t, answer otherwise) noexcept {
    return t != nullptr ? got(*t) : poll_result{otherwise, nullptr};
  }
};

}  // namespace kith
