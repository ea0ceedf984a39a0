// One future for several.
#pragma once

#include <kith/future.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace kith {

namespace detail {

/// The number of the runtime that all these tasks belong to; 0 if there are none. Throws kith::error if they
/// belong to several runtimes, or if one is no task (of an invalid future).
std::uint64_t common_runtime(std::span<const made_task> tasks);
/// The type of the tasks that when_all() makes.
const task_type& when_all_type();

/// Makes a task after all of these. Its result is `all` if none of them failed.
template <class All>
future<All> after_each(std::span<const made_task> tasks, All all, void (*rethrow)(const All&)) {
  std::vector<task_ref> before;
  for (made_task t : tasks) before.push_back(t.task);
  const std::uint64_t runtime = common_runtime(tasks);
  return create_with_result(
      [all = std::move(all), rethrow]() mutable {
        rethrow(all);
        return std::move(all);
      },
      [&](auto&& closure) {
        return creation(runtime).make(std::forward<decltype(closure)>(closure), after_all{before}, when_all_type());
      });
}

}  // namespace detail

/// A future that is ready when all of these are. Its value is the tuple of these futures, all ready. then() on it
/// calls its function with the value of each (void ones are left out). If some failed or were cancelled, it has
/// the exception of the first of these in the order of the arguments, after all have ended. No thread waits: it
/// is a task with edges, created where future::then() would create it. Throws `error` for a future without a
/// task, and if the tasks belong to several runtimes.
template <class... R>
[[nodiscard]] future<std::tuple<future<R>...>> when_all(const future<R>&... futures)
  requires(sizeof...(R) > 0)
{
  using all = std::tuple<future<R>...>;
  return detail::after_each<all>(
      std::array{detail::future_internals::made(futures)...}, all(futures...), [](const all& a) {
        std::apply([](const auto&... f) { (static_cast<void>(detail::future_internals::settled(f)), ...); }, a);
      });
}
/// The same for a number of futures that is known only at run time. Inside a task, the result for no futures is
/// ready at once.
template <class R>
[[nodiscard]] future<std::vector<future<R>>> when_all(std::vector<future<R>> futures) {
  using all = std::vector<future<R>>;
  std::vector<detail::made_task> tasks;
  for (const future<R>& f : futures) tasks.push_back(detail::future_internals::made(f));
  return detail::after_each<all>(tasks, std::move(futures), [](const all& a) {
    for (const future<R>& f : a) static_cast<void>(detail::future_internals::settled(f));
  });
}

}  // namespace kith
