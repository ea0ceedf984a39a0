// Parallel loops and reductions, made of tasks.
#pragma once

#include <kith/task.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

/// How a loop's iterations are dealt. `static_`: one contiguous share for each worker, or, with a grain, chunks
/// dealt round robin. `dynamic`: chunks of `grain` iterations, taken as workers become free. `guided`: chunks
/// that shrink from remaining/workers down to `grain`. A grain of 0 means 1 (for static_: equal shares).
struct schedule {
  enum kind : std::uint8_t { static_, dynamic, guided };
  kind deal = guided;
  std::int64_t grain = 0;
};

namespace detail {

/// Number of workers of the runtime this task runs on.
int worker_count();

/// Deals [begin, end) to `shares` takers. Each calls next() until it returns false.
class loop_dealer {
 public:
  loop_dealer(std::int64_t begin, std::int64_t end, schedule, int shares);
  /// The next chunk for taker `share`: [from, to). `turn` counts the taker's calls, starting with 0. Thread-safe.
  bool next(int share, std::int64_t turn, std::int64_t& from, std::int64_t& to) noexcept;

 private:
  std::int64_t begin_, end_, grain_;
  schedule::kind deal_;
  int shares_;
  alignas(128) std::atomic<std::int64_t> taken_{0};  // iterations dealt so far, or more
};

}  // namespace detail

namespace detail {

/// Calls take(share, next) in one task for each worker and waits for all. next(from, to) deals a chunk, or
/// returns false.
template <class Take>
void deal(std::int64_t begin, std::int64_t end, schedule how, Take&& take) {
  const int shares = worker_count();
  loop_dealer dealer(begin, end, how, shares);
  group together;
  for (int share = 0; share < shares; ++share) {
    together.spawn(
        [&, share] {
          std::int64_t turn = 0;
          take(share, [&](std::int64_t& from, std::int64_t& to) {
            return !cancelled() && dealer.next(share, turn++, from, to);
          });
        },
        color{share});
  }
  together.wait();
}

/// As is_task_call, for the bodies of loops.
template <class Body>
struct chunk_check {
  static constexpr bool value = std::is_invocable_v<Body&, std::int64_t, std::int64_t>;
  static_assert(value,
                "argument 3 of parallel_for_chunks cannot be called with two numbers; write [&](std::int64_t from, "
                "std::int64_t to) { ... }");
};
template <class Body>
struct loop_check {
  static constexpr bool value = std::is_invocable_v<Body&, std::int64_t>;
  static_assert(value, "argument 3 of parallel_for cannot be called with a number; write [&](std::int64_t i) { ... }");
};
template <class T, class Body, class Combine>
struct reduction_check {
  static constexpr bool folds = std::is_invocable_r_v<T, Body&, std::int64_t, std::int64_t, T>;
  static constexpr bool combines = std::is_invocable_r_v<T, Combine&, T, T>;
  static_assert(folds,
                "argument 4 of parallel_reduce cannot be called with two numbers and a value; write "
                "[&](std::int64_t from, std::int64_t to, T value) { ...; return value; }");
  static_assert(!folds || combines,
                "argument 5 of parallel_reduce cannot be called with two values; write [](T a, T b) { return ...; }");
  static constexpr bool value = folds && combines;
};

}  // namespace detail

/// Calls body(from, to) for chunks that cover [begin, end), each iteration once, and waits for all. Must be
/// called inside a task or `runtime::run`. Throws the first exception of a chunk; chunks that have not begun are
/// then skipped. Throws `error` if the thread runs no task, for a negative grain, and for more than 2^48
/// iterations.
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
    parallel_for_chunks(
        begin, end,
        [&](std::int64_t from, std::int64_t to) {
          for (std::int64_t i = from; i < to; ++i) body(i);
        },
        how);
  }
}

/// Folds [begin, end). Each taker starts from `identity` and adds its chunks by `value = body(from, to, value)`.
/// The takers' values are combined in the order of the takers, so with schedule static_ the result is the same in
/// every run.
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

}  // namespace kith
