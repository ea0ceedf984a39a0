// What a look for work found.
#pragma once

namespace kith {

class task;

/// What stealing one task came to.
enum class theft : unsigned char {
  got,
  empty,
  lost,      // somebody else was faster; worth another try
  unwanted,  // what is there is not what the thief takes
};

/// The answer of policy::next(). At most one remote probe a call.
struct look {
  enum kind : unsigned char {
    found,  // here it is
    retry,  // not here; ask again, elsewhere is next
    later,  // nothing that is worth taking yet; looking all the time would disturb whoever works there
    empty,  // nothing anywhere
  } what = empty;
  task* work = nullptr;

  static look got(task& t) noexcept { return {found, &t}; }
  /// `t` if there is one, else `otherwise`.
  static look at(task* t, kind otherwise) noexcept { return t != nullptr ? got(*t) : look{otherwise, nullptr}; }
};

}  // namespace kith
