// An activity on its way to its place, and its result on the way back.
#pragma once

#include <kith/detail/remote_call.hpp>
#include <kith/future.hpp>

#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

namespace kith::detail {

/// The bytes of a message's header, in front of the arguments.
inline constexpr std::size_t header_bytes = 64;

/// The result of an activity, for its futures.
class remote_result {
 public:
  completion ended;
  byte_buffer value;  // after header_bytes
  std::exception_ptr failure;

  void complete();
  /// Calls `resume` when it is complete, at once if it is. Thread-safe.
  void then(std::function<void()> resume);

 private:
  std::mutex guard_;
  std::vector<std::function<void()>> waiting_;
};

/// A function that continues a coroutine of the running activity. REQUIRES: it is called once. Throws kith::error if
/// the running activity is not a coroutine.
std::function<void()> resumption(std::coroutine_handle<> suspended);

/// Sends an activity. `result` is null if its result is not wanted.
void spawn_at(int place, const remote_function& f, packed_arguments message, std::shared_ptr<remote_result> result,
              bool idempotent);
bool is_lost(int place);
void finish(void* context, void (*f)(void*));

/// Whether F returns an activity (activity.hpp), which only at(place).spawn() and async() start.
template <class F>
constexpr bool is_unstarted_coroutine() {
  if constexpr (std::is_invocable_v<F&>) {
    return result_value<std::invoke_result_t<F&>>::is_coroutine;
  } else {
    return false;
  }
}

}  // namespace kith::detail
