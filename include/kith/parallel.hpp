// Parallel loops and reductions. Each worker may take a share of the iterations: by a join or, on a machine with
// several nodes and where a run is recorded, by a task. In the body of a graph that is captured, one thread takes all.
#pragma once

#include <kith/detail/loop.hpp>
#include <kith/schedule.hpp>
#include <kith/task.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

/// Calls body(from, to) for chunks that cover [begin, end), each iteration once, and waits for all, and for the tasks
/// that the chunks created. In the body of a graph that is captured, the calling thread runs all chunks, and the tasks
/// are the graph's. Must be called inside a task or `runtime::run`. Throws the first exception of a chunk;
/// chunks that have not begun are then skipped, as they are if the running task is cancelled. Throws `error` if the
/// thread runs no task, for a negative grain, and for more than 2^48 iterations.
template <class Body>
void parallel_for_chunks(std::int64_t begin, std::int64_t end, Body&& body, schedule how = {}) {
  if constexpr (detail::chunk_check<Body>::value) {
    detail::deal(begin, end, how, [&](int, auto next) {
      std::int64_t from, to;
      while (next(from, to)) body(from, to);
    });
  }
}

/// Calls body(i) for each i in [begin, end).
template <class Body>
void parallel_for(std::int64_t begin, std::int64_t end, Body&& body, schedule how = {}) {
  if constexpr (detail::loop_check<Body>::value) {
    kith::parallel_for_chunks(
        begin, end,
        [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t i = from; i < to; ++i) body(i);
        },
        how);
  }
}

/// Calls that neither of these takes: the compiler says what to write.
template <class... Arguments>
  requires(!detail::are_of_loop<Arguments...>)
void parallel_for(Arguments&&...) {
  static_assert(sizeof...(Arguments) + 1 == 0,
                "parallel_for takes a begin, an end, a function and perhaps a schedule; write "
                "kith::parallel_for(0, n, [&](std::int64_t i) { ... })");
}
template <class... Arguments>
  requires(!detail::are_of_loop<Arguments...>)
void parallel_for_chunks(Arguments&&...) {
  static_assert(sizeof...(Arguments) + 1 == 0,
                "parallel_for_chunks takes a begin, an end, a function and perhaps a schedule; write "
                "kith::parallel_for_chunks(0, n, [&](std::int64_t from, std::int64_t to) { ... })");
}

/// Folds [begin, end). `identity` is that of `combine`, such as 0 for a sum: each worker's share starts from it, and
/// adds its chunks by `value = body(from, to, value)`. The values are combined in the order of the shares, so with
/// schedule static_ the result is the same in every run. T must be copyable and assignable.
template <class T, class Body, class Combine>
T parallel_reduce(std::int64_t begin, std::int64_t end, T identity, Body&& body, Combine&& combine, schedule how = {}) {
  if constexpr (detail::reduction_check<T, Body, Combine>::value) {
    struct alignas(128) partial {
      T value;
    };
    std::vector<partial> partials(static_cast<std::size_t>(detail::worker_count()), partial{identity});
    detail::deal(begin, end, how, [&](int share, auto next) {
      T& mine = partials[static_cast<std::size_t>(share)].value;
      std::int64_t from, to;
      while (next(from, to)) mine = body(from, to, std::move(mine));
    });
    T total = std::move(identity);
    for (partial& p : partials) total = combine(std::move(total), std::move(p.value));
    return total;
  } else {
    return identity;
  }
}
/// Other arguments: the compiler says what to write.
template <class... Arguments>
  requires(!detail::are_of_reduction<Arguments...>)
auto parallel_reduce(Arguments&&...) {
  static_assert(sizeof...(Arguments) + 1 == 0,
                "parallel_reduce takes a begin, an end, the identity of the second function (0 for a sum: each worker "
                "starts with it), two functions and perhaps a schedule; "
                "write kith::parallel_reduce(0, n, T(), [&](std::int64_t from, std::int64_t to, T value) { ...; return "
                "value; }, [](T a, T b) { return ...; })");
  return 0;
}

}  // namespace kith
