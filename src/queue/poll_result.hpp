// What a look for work found.
#pragma once

namespace kith {

class task;

/// What stealing one task came to.
enum class steal_result : unsigned char {
  got,
  empty,
  lost,      // somebody else was faster; worth another try
  unwanted,  // what is there is not what the thief takes
};

/// The answer of policy::next(). At most one remote probe a call.
struct poll_result {
  enum kind : unsigned char {
    found,  // here it is
    retry,  // not here; ask again, elsewhere is next
    later,  // nothing that is worth taking yet; looking all the time would disturb whoever works there
    empty,  // nothing anywhere
  } what = empty;
  task* work = nullptr;

  static poll_result got(task& t) noexcept { return {found, &t}; }
  /// `t` if there is one, else `otherwise`.
  static poll_result at(task* t, kind otherwise) noexcept {
    return t != nullptr ? got(*t) : poll_result{otherwise, nullptr};
  }
};

}  // namespace kith
