// A value that is made when it is first asked for, and stays as long as the process.
#pragma once

#include "base/atomic.hpp"

#include <memory>

namespace kith {

/// For static objects (constinit): a local static whose making a fork of another thread interrupts would hang the child,
/// which has not got the thread that makes it (base/fork.hpp). Here nobody waits: of two threads that ask at once both
/// make a value, and one of the two values is kept.
template <class T>
class made_once {
 public:
  /// `make()` is called if there is no value yet; what it throws leaves things as they were. Any thread.
  template <class Make>
  const T& get(Make&& make) {
    if (const T* there = made_.load(acquire)) return *there;  // pairs with the exchange
    auto mine = std::make_unique<const T>(make());
    const T* there = nullptr;
    if (!made_.compare_exchange_strong(there, mine.get(), acq_rel, acquire)) return *there;
    return *mine.release();
  }

 private:
  atomic<const T*> made_{nullptr};
};

}  // namespace kith
