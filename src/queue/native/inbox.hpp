// A queue with many producers, whose consumers take all entries at once. Tasks from outside the workers arrive here.
//
// A Treiber stack of intrusive entries. It is only emptied as a whole, so there is no ABA problem: no entry is
// popped and pushed again during a pop. Any thread may call any function. An entry has room for one pointer,
// which the inbox uses through set_next(T&, T*) and get_next(const T&), found by argument-dependent lookup.
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
  [[nodiscard]] T* take_all() noexcept {
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
