// The seat of threads that are no workers: they create tasks one at a time, in a scope of their own.
#pragma once

#include "engine/native/seat.hpp"

#include <condition_variable>
#include <mutex>

namespace kith::native {

/// What scope::waiting says for a scope whose waiters are outside: reports call engine::outside_changed().
inline constexpr std::uint32_t waiting_outside = 0xffffffff;

class outside_seat : public native_seat {
 public:
  outside_seat(native::engine& owner, slot_space& space, std::uint16_t number);
  ~outside_seat();

  /// Unfinished tasks that were submitted. Any thread.
  std::uint64_t unfinished() const noexcept;
  /// Sleeps until there are none. Not by a worker.
  void wait_until_empty();
  /// The first failure of a submitted task's descendants that nobody has taken yet.
  std::exception_ptr take_failure();
  void notify() noexcept;

  /// The scope of submitted tasks. REQUIRES: `creating` is held.
  detail::scope& open();

  std::mutex creating;  // held while a task is created from outside
  std::mutex guard;     // of `changed`
  std::condition_variable changed;

 private:
  detail::scope* scope_ = nullptr;
  atomic<detail::scope*> known_{nullptr};  // the same, for those who only look
};

}  // namespace kith::native
