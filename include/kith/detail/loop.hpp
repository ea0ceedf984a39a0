// How a loop's iterations are dealt to workers, and the compiler's messages about a wrong body.
#pragma once

#include <kith/fork_join.hpp>
#include <kith/schedule.hpp>
#include <kith/task.hpp>

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kith {

namespace detail {

/// Number of workers of the runtime this task runs on.
int worker_count();

/// The number of iterations of a loop over [begin, end). Throws `error` if there are more than 2^48.
std::int64_t iterations(std::int64_t begin, std::int64_t end);

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

/// How loops of the running task are dealt. By joins, but not where tasks do better: on a machine with several nodes
/// their colors keep shares on the workers that had them before, and recordings know only tasks. By calls in the body
/// of a graph that is captured, so that the tasks which the chunks create belong to the graph.
enum class loop_by : std::uint8_t { joins, tasks, calls };
loop_by loops_by() noexcept;

/// Calls f(context), then waits for the tasks that it created, which are its own. Throws its exception, else theirs.
void run_apart(void* context, void (*f)(void*));

/// Deals chunks to one taker, until the running task is cancelled.
class share_of_loop {
 public:
  share_of_loop(loop_dealer& dealer, int share) noexcept : dealer_(dealer), share_(share) {}
  bool operator()(std::int64_t& from, std::int64_t& to) {
    return !cancelled() && dealer_.next(share_, turn_++, from, to);
  }

 private:
  loop_dealer& dealer_;
  int share_;
  std::int64_t turn_ = 0;
};

/// Runs the takers from..to-1 of a loop, by joins.
template <class Take>
void deal_by_joins(loop_dealer& dealer, int from, int to, std::atomic<bool>& failed, Take& take) {
  if (to - from > 1) {
    const int middle = from + (to - from + 1) / 2;
    kith::join([&, from, middle] { detail::deal_by_joins(dealer, from, middle, failed, take); },
               [&, middle, to] { detail::deal_by_joins(dealer, middle, to, failed, take); });
    return;
  }
  auto taker = [&] {
    share_of_loop share(dealer, from);
    try {
      take(from, [&](std::int64_t& first, std::int64_t& last) {
        return !failed.load(std::memory_order_relaxed) && share(first, last);
      });
    } catch (...) {
      failed.store(true, std::memory_order_relaxed);
      throw;
    }
  };
  detail::run_apart(&taker, [](void* t) { (*static_cast<decltype(taker)*>(t))(); });
}

/// Calls take(share, next) for each worker's share, perhaps side by side, and waits for all, and for the tasks that
/// they created. next(from, to) deals a chunk, or returns false.
template <class Take>
void deal(std::int64_t begin, std::int64_t end, schedule how, Take&& take) {
  const int shares = worker_count();
  loop_dealer dealer(begin, end, how, shares);
  const loop_by by = loops_by();
  if (by == loop_by::joins) {
    std::atomic<bool> failed{false};
    detail::deal_by_joins(dealer, 0, shares, failed, take);
  } else if (by == loop_by::calls) {
    for (int share = 0; share < shares; ++share) take(share, share_of_loop(dealer, share));
  } else {
    group_of_parts together;
    for (int share = 0; share < shares; ++share) {
      together.spawn([&, share] { take(share, share_of_loop(dealer, share)); }, color{share});
    }
    together.wait();
  }
}

/// As is_task_call, for the bodies of loops.
template <class Body>
struct chunk_check {
  static constexpr bool value = std::is_invocable_v<Body&, std::int64_t&, std::int64_t&>;
  static_assert(value,
                "argument 3 of parallel_for_chunks cannot be called with two numbers; write [&](std::int64_t from, "
                "std::int64_t to) { ... }");
};
/// Whether these are a begin, an end, a function, and perhaps a schedule.
template <class... Arguments>
inline constexpr bool are_of_loop = false;
template <class Begin, class End, class Body>
inline constexpr bool are_of_loop<Begin, End, Body> =
    std::is_convertible_v<Begin, std::int64_t> && std::is_convertible_v<End, std::int64_t>;
template <class Begin, class End, class Body, class Schedule>
inline constexpr bool are_of_loop<Begin, End, Body, Schedule> =
    are_of_loop<Begin, End, Body> && std::is_convertible_v<Schedule, schedule>;

/// Whether these are a begin, an end, an identity, two functions, and perhaps a schedule.
template <class... Arguments>
inline constexpr bool are_of_reduction = false;
template <class Begin, class End, class T, class Body, class Combine>
inline constexpr bool are_of_reduction<Begin, End, T, Body, Combine> =
    std::is_convertible_v<Begin, std::int64_t> && std::is_convertible_v<End, std::int64_t>;
template <class Begin, class End, class T, class Body, class Combine, class Schedule>
inline constexpr bool are_of_reduction<Begin, End, T, Body, Combine, Schedule> =
    are_of_reduction<Begin, End, T, Body, Combine> && std::is_convertible_v<Schedule, schedule>;

template <class Body>
struct loop_check {
  static constexpr bool value = std::is_invocable_v<Body&, std::int64_t&>;
  static_assert(value, "argument 3 of parallel_for cannot be called with a number; write [&](std::int64_t i) { ... }");
};
template <class T, class Body, class Combine>
struct reduction_check {
  static constexpr bool is_value = std::is_copy_constructible_v<T> && std::is_move_assignable_v<T>;
  static_assert(is_value,
                "argument 3 of parallel_reduce cannot be copied and assigned; each worker begins with a copy of it");
  static constexpr bool folds = !is_value || requires(Body& b, std::int64_t& from, std::int64_t& to, T& value) {
    value = b(from, to, std::move(value));
  };
  static constexpr bool combines = !is_value || requires(Combine& c, T& a, T& b) { a = c(std::move(a), std::move(b)); };
  static_assert(folds,
                "argument 4 of parallel_reduce cannot be called with two numbers and a value; write "
                "[&](std::int64_t from, std::int64_t to, T value) { ...; return value; }");
  static_assert(!folds || combines,
                "argument 5 of parallel_reduce cannot be called with two values; write [](T a, T b) { return ...; }");
  static constexpr bool value = is_value && folds && combines;
};

}  // namespace detail

}  // namespace kith
