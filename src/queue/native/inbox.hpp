// Many producers, and consumers that take everything at once. What comes from outside the workers arrives here.
//
// A stack of intrusive entries (Treiber) that is only ever emptied as a whole, so no entry is popped and pushed back
// behind a reader's back. Any thread may call anything. An entry lends the inbox one pointer: set_next(T&, T*) and
// get_next(const T&), found beside T.
#pragma once

#include "base/atomic.hpp"

namespace kith::native {

template <class T>
class inbox {
 public:
  void push(T& entry) noexcept {
    T* top = top_.load(relaxed);
    do {
      set_next(entry, top);
    } while (!top_.compare_exchange_weak(top, &entry, release, relaxed));  // pairs with the exchange in take_all()
  }

  bool empty() const noexcept { return top_.load(relaxed) == nullptr; }

  /// All entries, oldest first, linked by get_next(); null if there are none.
  T* take_all() noexcept {
    T* newest = top_.exchange(nullptr, acquire);  // pairs with push()
    T* oldest = nullptr;
    while (newest != nullptr) {
      T* next = get_next(*newest);
      set_next(*newest, oldest);
      oldest = newest;
      newest = next;
    }
    return oldest;
  }

 private:
  alignas(false_sharing_range) atomic<T*> top_{nullptr};
};

}  // namespace kith::native
