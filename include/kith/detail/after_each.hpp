// The task of when_all(), and the compiler's messages about a wrong call.
#pragma once

#include <kith/future.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::detail {

/// Whether these are futures, or one vector of them.
template <class... T>
inline constexpr bool are_futures = false;
template <class... R>
  requires(sizeof...(R) > 0)
inline constexpr bool are_futures<future<R>...> = true;
template <class R>
inline constexpr bool are_futures<std::vector<future<R>>> = true;

/// The number of the runtime that all these tasks belong to; 0 if there are none. Throws kith::error if they belong to
/// several runtimes, or if one is no task (of an invalid future).
std::uint64_t common_runtime(std::span<const made_task> tasks);
/// The type of the tasks that when_all() makes.
const task_type& when_all_type();

/// Makes a task after all of these. Its result is `all` if none of them failed.
template <class All>
future<All> after_each(std::span<const made_task> tasks, All all, void (*rethrow)(const All&)) {
  std::vector<task_ref> before;
  for (made_task t : tasks) before.push_back(t.task);
  const std::uint64_t runtime = common_runtime(tasks);
  return detail::create_with_result(
      [all = std::move(all), rethrow]() mutable {
        rethrow(all);
        return std::move(all);
      },
      [&](auto&& closure) {
        return creation(runtime).make(std::forward<decltype(closure)>(closure), after_all{before}, when_all_type());
      });
}

}  // namespace kith::detail
