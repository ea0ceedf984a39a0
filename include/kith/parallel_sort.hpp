// Sorting in parallel. Not part of kith/kith.hpp, because <algorithm> is large.
#pragma once

#include <kith/detail/sort_parts.hpp>

#include <bit>
#include <cstdint>
#include <functional>

namespace kith {

/// Sorts [first, last) so that no element is less than one before it. Equal elements may change places. `less` is
/// called by several workers at a time. Needs no further memory; takes O(n log n) comparisons. May be called anywhere;
/// outside of tasks it sorts serially. If `less` throws, so does this; as with std::sort, an element may then be lost:
/// each is valid, its value is unspecified.
template <class It, class Less = std::less<>>
void parallel_sort(It first, It last, Less less = {}) {
  if constexpr (detail::sort_check<It, Less>::value) {
    // Each split halves a range, or nearly; one that splits badly too often is left to std::sort, whose bound holds.
    const auto length = static_cast<std::uint64_t>(last - first);
    detail::sort_parts(first, last, less, 2 * std::bit_width(length));
  }
}
/// Other arguments: the compiler says what to write.
template <class... Arguments>
  requires(!detail::are_of_sort<Arguments...>)
void parallel_sort(Arguments&&...) {
  static_assert(sizeof...(Arguments) + 1 == 0,
                "parallel_sort takes two iterators of one type, and perhaps a function that compares; write "
                "kith::parallel_sort(v.begin(), v.end())");
}

}  // namespace kith
