// A value that is made at first use, and lives as long as the process.
#pragma once

#include "base/atomic.hpp"

#include <memory>

namespace kith {

/// For static objects (constinit). If a thread forks while another one initialises a local static, the child
/// would hang, because it lacks the initialising thread (base/fork.hpp). Here no thread waits: two threads that
/// ask at once both make a value, and one of the values is kept.
template <class T>
class made_once {
 public:
  /// Calls `make()` if there is no value yet. If that throws, nothing changes. Thread-safe.
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
