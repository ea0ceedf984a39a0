// One future for several.
#pragma once

#include <kith/detail/after_each.hpp>

#include <array>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

/// A future that is ready when all of these are. Its value is the tuple of these futures, all ready. then() on it calls
/// its function with the value of each (void ones are left out). If some failed or were cancelled, it has the exception
/// of the first of these in the order of the arguments, after all have ended. No thread waits: it is a task with edges,
/// created where future::then() would create it. Throws `error` for a future without a task, and if the tasks belong to
/// several runtimes.
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

/// Rejects other arguments at compile time, with a message that says what to write.
template <class... Arguments>
  requires(!detail::are_futures<std::remove_cvref_t<Arguments>...>)
auto when_all(Arguments&&...) {
  static_assert(
      sizeof...(Arguments) + 1 == 0,
      "when_all takes futures, or one std::vector of them; write kith::when_all(f, g) with what async, submit "
      "or then returned");
  return future<void>();
}

}  // namespace kith
