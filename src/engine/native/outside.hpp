// The seat of threads that are no workers: they create tasks one at a time, in a scope of their own.
#pragma once

#include "engine/native/seat.hpp"

#include <condition_variable>
#include <mutex>

namespace kith::native {

/// The value of scope::waiting for a scope whose waiters are outside; reports then call engine::outside_changed().
inline constexpr std::uint32_t waiting_outside = 0xffffffff;

class outside_seat : public native_seat {
 public:
  outside_seat(native::engine& owner, slot_space& space, std::uint16_t number);
  ~outside_seat();

  /// The number of submitted tasks that are unfinished. Thread-safe.
  std::uint64_t unfinished() const noexcept;
  /// Sleeps until there are none. Must not be called by a worker.
  void wait_until_empty();
  /// Takes the first failure of a submitted task's descendants that was not yet taken.
  std::exception_ptr take_failure();
  void notify() noexcept;

  /// The scope of submitted tasks. REQUIRES: `creating` is held.
  detail::scope& open();

  std::mutex creating;  // held while a task is created from outside, and until notify() has returned
  std::mutex guard;     // for `changed`
  std::condition_variable changed;

 private:
  detail::scope* scope_ = nullptr;
  atomic<detail::scope*> known_{nullptr};  // the same, for threads that do not hold `creating`
};

}  // namespace kith::native
