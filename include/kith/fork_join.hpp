// Divide and conquer: functions that may run side by side, without a task for each of them.
#pragma once

#include <kith/detail/half.hpp>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace kith {

namespace detail {

template <class F, class G>
using join_result =
    std::conditional_t<std::is_void_v<std::invoke_result_t<F&>> && std::is_void_v<std::invoke_result_t<G&>>, void,
                       std::pair<half_result<F>, half_result<G>>>;

/// Both halves have run.
template <class F, class G>
join_result<F, G> results_of(half_of<F>& first, half_of<G>& second) {
  struct dropped {
    half_of<G>* left;
    ~dropped() {
      if (left != nullptr) left->drop();
    }
  } if_first_throws{&second};
  if constexpr (std::is_void_v<join_result<F, G>>) {
    first.take();
    std::exchange(if_first_throws.left, nullptr)->take();
  } else {
    half_result<F> a = first.take();
    return {std::forward<half_result<F>>(a), std::exchange(if_first_throws.left, nullptr)->take()};
  }
}

template <class F, class G>
[[gnu::noinline, gnu::cold]] join_result<F, G> join_without_lane(kept_function<F> f, half_of<G>& second, join_by how) {
  half_of<F> first(f);
  if (how == join_by::tasks) {
    join_as_tasks(first, second);
  } else {
    first.run();
    second.run();
  }
  return results_of(first, second);
}

/// The first half has thrown: the second one still runs, or is waited for.
template <class G>
[[gnu::noinline, gnu::cold]] void end_second(fork_lane& lane, split_deque<half>::place at,
                                             half_of<G>& second) noexcept {
  if (lane.halves.pop(at) || await_half(lane, second, at)) second.run();
  second.drop();
}

template <class F, class G>
[[gnu::always_inline]] inline half_result<F> run_first(F& f, fork_lane& lane, split_deque<half>::place at,
                                                       half_of<G>& second) {
  try {
    return call_half(f);
  } catch (...) {
    end_second(lane, at, second);
    throw;
  }
}

template <class F, class G>
struct join_check {
  static constexpr bool first = std::is_invocable_v<F&>;
  static constexpr bool second = std::is_invocable_v<G&>;
  static_assert(first, "argument 1 of join cannot be called without arguments; write [&] { ... }");
  static_assert(!first || second, "argument 2 of join cannot be called without arguments; write [&] { ... }");
  static constexpr bool value = first && second;
};

}  // namespace detail

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
/// in a half waits at least for the tasks that this half created. If one of these fails that no wait() in the half has
/// seen, the running task's next wait() throws its exception. A group that was made outside of the join can be filled
/// in its halves, without accesses and predecessors.
template <class F, class G>
auto join(F&& f, G&& g) {
  if constexpr (detail::join_check<F, G>::value) {
    using namespace detail;
    half_of<G> second(g);
    fork_lane* lane = this_lane;
    split_deque<half>::place at = lane->halves.top();
    if (!lane->halves.push(at, second)) [[unlikely]] {
      if (const join_by how = offer(second); how != join_by::lane) return join_without_lane<F, G>(f, second, how);
      lane = this_lane;
      at = lane->halves.top() - 1;
    }
    if constexpr (std::is_void_v<join_result<F, G>>) {
      run_first(f, *lane, at, second);
      if (lane->halves.pop(at) || await_half(*lane, second, at)) [[likely]] {
        call_half(g);
      } else {
        second.take();
      }
    } else {
      half_result<F> a = run_first(f, *lane, at, second);
      if (lane->halves.pop(at) || await_half(*lane, second, at)) [[likely]]
        return join_result<F, G>{std::forward<half_result<F>>(a), call_half(g)};
      return join_result<F, G>{std::forward<half_result<F>>(a), second.take()};
    }
  }
}

/// Calls all functions, perhaps side by side, and returns when all have ended. What they return is dropped. Throws the
/// exception of the first of them, in the order of the arguments, that threw one. Otherwise as join().
template <class... F>
void parallel_invoke(F&&... f);

namespace detail {

template <std::size_t From, std::size_t To, class Functions>
void invoke_between(Functions& all) {
  if constexpr (To - From == 1) {
    std::get<From>(all)();
  } else if constexpr (To > From) {
    constexpr std::size_t middle = From + (To - From + 1) / 2;
    join([&] { invoke_between<From, middle>(all); }, [&] { invoke_between<middle, To>(all); });
  }
}

}  // namespace detail

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
