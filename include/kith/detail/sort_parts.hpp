// A sort that splits ranges in place, and sorts the parts side by side.
#pragma once

#include <kith/fork_join.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace kith::detail {

/// Ranges up to this length are sorted without a join.
inline constexpr std::ptrdiff_t sorted_alone = 2048;

/// The middle one of three elements.
template <class It, class Less>
It middle_of(It a, It b, It c, Less& less) {
  if (less(*a, *b)) return less(*b, *c) ? b : less(*a, *c) ? c : a;
  return less(*a, *c) ? a : less(*b, *c) ? c : b;
}

/// Parts [first, last) at a value that is the middle one of nine. Nothing before the returned element is greater than
/// it, nothing after it is less. Elements equal to it go to both sides, so that many equal ones part evenly, too.
template <class It, class Less>
It part(It first, It last, Less& less) {
  const auto eighth = (last - first) / 8;
  const It middle = first + (last - first) / 2, end = last - 1;
  using std::iter_swap;
  iter_swap(first, detail::middle_of(detail::middle_of(first, first + eighth, first + 2 * eighth, less),
                                     detail::middle_of(middle - eighth, middle, middle + eighth, less),
                                     detail::middle_of(end - 2 * eighth, end - eighth, end, less), less));
  It low = first, high = last;
  for (;;) {
    while (less(*++low, *first)) {
      if (low == end) break;
    }
    while (less(*first, *--high)) {
    }
    if (low >= high) break;
    iter_swap(low, high);
  }
  iter_swap(first, high);
  return high;
}

template <class It, class Less>
void sort_parts(It first, It last, Less& less, int splits_left) {
  if (last - first <= sorted_alone || splits_left == 0) {
    std::sort(first, last, std::ref(less));
    return;
  }
  const It pivot = detail::part(first, last, less);
  kith::join([=, &less] { detail::sort_parts(first, pivot, less, splits_left - 1); },
             [=, &less] { detail::sort_parts(pivot + 1, last, less, splits_left - 1); });
}

/// Whether these are two iterators of one type, and perhaps a comparison.
template <class... Arguments>
inline constexpr bool are_of_sort = false;
template <class First, class Last>
inline constexpr bool are_of_sort<First, Last> = std::is_same_v<std::decay_t<First>, std::decay_t<Last>>;
template <class First, class Last, class Less>
inline constexpr bool are_of_sort<First, Last, Less> = are_of_sort<First, Last>;

template <class It, class Less>
struct sort_check {
  static constexpr bool walks = std::random_access_iterator<It>;
  static constexpr bool changes() {
    if constexpr (walks) {
      return std::permutable<It>;
    } else {
      return false;
    }
  }
  static constexpr bool compares() {
    if constexpr (changes()) {
      return requires(Less& less, It a, It b) {
        { less(*a, *b) } -> std::convertible_to<bool>;
      };
    } else {
      return false;
    }
  }
  static_assert(
      walks, "argument 1 of parallel_sort is no random-access iterator; sort a std::vector, a std::deque or an array");
  static_assert(!walks || changes(),
                "argument 1 of parallel_sort leads to elements that cannot be moved, as const ones; sort a copy");
  static_assert(!changes() || compares(),
                "argument 3 of parallel_sort cannot compare two elements; write [](const T& a, const T& b) { return a "
                "< b; }, or give the elements operator<");
  static constexpr bool value = compares();
};

}  // namespace kith::detail
