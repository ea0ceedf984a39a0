// Prefix sums in parallel.
#pragma once

#include <kith/detail/loop.hpp>
#include <kith/detail/scan_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

/// Prefix sums over [begin, end), and the sum of all; `identity` is that of `combine`. value = scan(from, to, value,
/// final) adds a part to `value`, the sum of what precedes the part; if `final`, it also writes the part's results.
/// Each iteration is in one final call, and in at most one other before it, whose value begins with `identity`.
/// `combine` adds the sums of neighbouring parts, in their order; it must be associative. T must be copyable and
/// assignable. With one worker there is a single call. Otherwise W workers take the time of 2/(W+1) of a serial scan,
/// if memory is fast enough. Must be called inside a task or `runtime::run`; throws the first exception of a part, in
/// their order, and `error` if the thread runs no task.
template <class T, class Scan, class Combine>
T parallel_scan(std::int64_t begin, std::int64_t end, T identity, Scan&& scan, Combine&& combine) {
  if constexpr (detail::scan_check<T, Scan, Combine>::value) {
    const std::int64_t length = detail::iterations(begin, end);
    const std::int64_t most = detail::worker_count() + 1, blocks = length < most ? length : most;
    if (blocks < 3) return scan(begin, begin + length, std::move(identity), true);
    const auto start = [&](std::int64_t b) {
      return begin + length / blocks * b + (b < length % blocks ? b : length % blocks);
    };
    struct alignas(128) sum {
      T value;
    };
    std::vector<sum> before(static_cast<std::size_t>(blocks) + 1, sum{identity});  // of each block's predecessors
    const auto at = [&](std::int64_t b) -> T& { return before[static_cast<std::size_t>(b)].value; };
    // The first block has nothing before it, and the last one's sum is not needed.
    auto add_up = [&](std::int64_t b) { at(b + 1) = scan(start(b), start(b + 1), identity, b == 0); };
    detail::for_blocks(0, blocks - 1, add_up);
    for (std::int64_t b = 1; b + 1 < blocks; ++b) at(b + 1) = combine(at(b), std::move(at(b + 1)));
    T total = identity;
    auto write = [&](std::int64_t b) {
      T sum_of_all = scan(start(b), start(b + 1), at(b), true);
      if (b + 1 == blocks) total = std::move(sum_of_all);
    };
    detail::for_blocks(1, blocks, write);
    return total;
  } else {
    return identity;
  }
}
/// Other arguments: the compiler says what to write.
template <class... Arguments>
  requires(!detail::are_of_scan<Arguments...>)
auto parallel_scan(Arguments&&...) {
  static_assert(
      sizeof...(Arguments) + 1 == 0,
      "parallel_scan takes a begin, an end, the identity of the second function (0 for a sum: each block starts "
      "with it) and two functions; write "
      "kith::parallel_scan(0, n, T(), [&](std::int64_t from, std::int64_t to, T value, bool final) { ...; "
      "return value; }, [](T a, T b) { return ...; })");
  return 0;
}

}  // namespace kith
