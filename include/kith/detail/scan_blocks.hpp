// The blocks of a parallel_scan(), and the compiler's messages about a wrong call.
#pragma once

#include <kith/fork_join.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace kith::detail {

/// Calls step(b) for all b in [from, to), perhaps side by side.
template <class Step>
void for_blocks(std::int64_t from, std::int64_t to, Step& step) {
  if (to - from == 1) return step(from);
  const std::int64_t middle = from + (to - from + 1) / 2;
  kith::join([=, &step] { detail::for_blocks(from, middle, step); },
             [=, &step] { detail::for_blocks(middle, to, step); });
}

/// Whether these are a begin, an end, an identity and two functions.
template <class... Arguments>
inline constexpr bool are_of_scan = false;
template <class Begin, class End, class T, class Scan, class Combine>
inline constexpr bool are_of_scan<Begin, End, T, Scan, Combine> =
    std::is_convertible_v<Begin, std::int64_t> && std::is_convertible_v<End, std::int64_t>;

template <class T, class Scan, class Combine>
struct scan_check {
  static constexpr bool is_value = std::is_copy_constructible_v<T> && std::is_move_assignable_v<T>;
  static_assert(is_value,
                "argument 3 of parallel_scan cannot be copied and assigned; each block begins with a copy of it");
  static constexpr bool scans = !is_value || requires(Scan& s, std::int64_t& from, std::int64_t& to, T& value,
                                                      bool& final) { value = s(from, to, std::move(value), final); };
  static constexpr bool combines = !is_value || requires(Combine& c, T& a, T& b) { a = c(std::move(a), std::move(b)); };
  static_assert(scans,
                "argument 4 of parallel_scan cannot be called with two numbers, a value and a bool; write "
                "[&](std::int64_t from, std::int64_t to, T value, bool final) { ...; return value; }");
  static_assert(!scans || combines,
                "argument 5 of parallel_scan cannot be called with two values; write [](T a, T b) { return ...; }");
  static constexpr bool value = is_value && scans && combines;
};

}  // namespace kith::detail
