// How join() runs its halves, and parallel_invoke() its functions.
#pragma once

#include <kith/detail/fork_lane.hpp>

#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kith {

template <class F, class G>
auto join(F&& f, G&& g);

}  // namespace kith

namespace kith::detail {

template <class F, class G>
using join_result =
    std::conditional_t<std::is_void_v<std::invoke_result_t<F&>> && std::is_void_v<std::invoke_result_t<G&>>, void,
                       std::pair<half_result<F>, half_result<G>>>;

/// Called when both halves have run.
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
    detail::join_as_tasks(first, second);
  } else {
    first.run();
    second.run();
  }
  return detail::results_of(first, second);
}

/// Called when the first half has thrown: the second one still runs, or is waited for.
template <class G>
[[gnu::noinline, gnu::cold]] void end_second(fork_lane& lane, split_deque<half>::slot_pointer at,
                                             half_of<G>& second) noexcept {
  if (lane.halves.pop(at) || detail::await_half(lane, second, at)) second.run();
  second.drop();
}

/// Calls f and keeps its result, whose move may throw as well.
template <class F, class G>
[[gnu::always_inline]] inline void run_first(F& f, fork_lane& lane, split_deque<half>::slot_pointer at,
                                             half_of<G>& second, std::optional<kept_result<F>>& first) {
  try {
    first.emplace(detail::call_half(f));
  } catch (...) {
    detail::end_second(lane, at, second);
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

template <std::size_t From, std::size_t To, class Functions>
void invoke_between(Functions& all) {
  if constexpr (To - From == 1) {
    std::get<From>(all)();
  } else if constexpr (To > From) {
    constexpr std::size_t middle = From + (To - From + 1) / 2;
    kith::join([&] { detail::invoke_between<From, middle>(all); }, [&] { detail::invoke_between<middle, To>(all); });
  }
}

}  // namespace kith::detail
