// Divide and conquer: functions that may run side by side, without a task for each of them.
#pragma once

#include <kith/detail/join.hpp>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kith {

/// Calls f() and g(), perhaps side by side, and returns when both have ended: a std::pair of their results, or nothing
/// if both return nothing (std::monostate stands for nothing beside a result). The calling thread runs `f`; meanwhile
/// an idle worker may take `g`, with all that `g` joins itself. Else the calling thread runs `g` after `f`. Costs about
/// as much as a call: no task is created, and nothing is allocated.
///
/// May be called anywhere: inside tasks, inside runtime::run(), inside other joins to any depth. On a thread that runs
/// no task, it calls f() and then g(). In a runtime that records, or follows a recorded schedule, `g` is a task.
///
/// Neither half may need the other one to run at the same time, or to have run. Both are part of the running task: they
/// run even if one of them throws, or the task is cancelled (a long half may ask cancelled()). join() throws the
/// exception of `f`, or else that of `g`. A half may block: tasks, futures, groups of its own. Tasks that it creates
/// are children of the running task; accesses order them among those of the same half, but not against others. wait()
/// in a half waits at least for the tasks that this half created. If one of these fails and no wait() in the half has
/// thrown its exception, the running task's next wait() does. A group that was made outside of the join can be filled
/// in its halves, without accesses and predecessors, but not waited for there.
template <class F, class G>
auto join(F&& f, G&& g) {
  if constexpr (detail::join_check<F, G>::value) {
    using namespace detail;
    std::optional<kept_result<F>> first;
    {
      // `second` ends before `g` is called, so that the compiler may make a loop of a recursion in `g`.
      half_of<G> second(g);
      fork_lane* lane = this_lane;
      split_deque<half>::slot_pointer at = lane->halves.top();
      if (!lane->halves.push(at, second)) [[unlikely]] {
        if (const join_by how = detail::offer(second); how != join_by::lane)
          return detail::join_without_lane<F, G>(f, second, how);
        lane = this_lane;
        at = lane->halves.top() - 1;
      }
      detail::run_first<F>(f, *lane, at, second, first);
      if (!lane->halves.pop(at) && !detail::await_half(*lane, second, at)) [[unlikely]] {
        if constexpr (std::is_void_v<join_result<F, G>>) {
          second.take();
          return;
        } else {
          return join_result<F, G>{first->take(), second.take()};
        }
      }
    }
    if constexpr (std::is_void_v<join_result<F, G>>) {
      detail::call_half(g);
    } else {
      return join_result<F, G>{first->take(), detail::call_half(g)};
    }
  }
}

/// Rejects other numbers of functions than two at compile time, with a message that says what to write.
template <class... F>
  requires(sizeof...(F) != 2)
auto join(F&&...) {
  static_assert(
      sizeof...(F) + 1 == 0,
      "join takes two functions; write kith::join(f, g), or kith::parallel_invoke(f, g, h) for another number");
}

/// Calls all functions, perhaps side by side, and returns when all have ended. What they return is dropped. Throws the
/// exception of the first of them, in the order of the arguments, that threw one. Otherwise as join().
template <class... F>
void parallel_invoke(F&&... f) {
  constexpr bool callable = (true && ... && std::is_invocable_v<F&>);
  static_assert(callable, "an argument of parallel_invoke cannot be called without arguments; write [&] { ... }");
  if constexpr (callable) {
    std::tuple<F&...> all(f...);
    detail::invoke_between<0, sizeof...(F)>(all);
  }
}

}  // namespace kith
