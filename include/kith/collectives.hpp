// What all places do together: a barrier, a broadcast, reductions.
//
// Each place calls it in one activity at a time, and all call the same in the same order; a place that does not call
// keeps all others waiting. The caller's worker runs other tasks meanwhile. Between processes these are MPI's own
// collectives. All throw `error` if no activity runs on this thread; for more than 2^31 - 1 elements (broadcast:
// bytes); under `cws`, which has no separate places; and if the places' calls differ in operation, type, size or root:
// then all places throw, and there are no collectives until the next place_runtime. They throw place_lost if a place
// is lost.
#pragma once

#include <kith/places.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace kith {

/// How a reduction combines two values. The order of the values is not defined, so sums of floating-point numbers may
/// differ in their last digits from run to run.
enum class reduction : std::uint8_t { sum, least, largest };

namespace detail {

/// The elements that a reduction can combine.
template <class T>
inline constexpr bool is_reducible = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                                     (sizeof(T) == 4 || sizeof(T) == 8) && !std::is_same_v<T, long double>;

void barrier();
void broadcast(void* data, std::size_t bytes, int root);
/// `size`: bytes of an element; `kind`: 0 signed, 1 unsigned, 2 floating-point.
void all_reduce(void* data, std::size_t count, std::size_t size, int kind, reduction how);

}  // namespace detail

/// Returns when all places have called it.
inline void barrier() { detail::barrier(); }

/// The values of place `root`, at all places. As many values at each.
template <class T>
void broadcast(std::span<T> values, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_const_v<T>,
                "broadcast copies bytes into its argument: expected a trivially copyable type without pointers");
  detail::broadcast(values.data(), values.size_bytes(), root);
}
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] T broadcast(T value, int root = 0) {
  broadcast(std::span<T>(&value, 1), root);
  return value;
}

/// Element by element, the sum (or the least, or the largest) of what the places have; all get it. As many values at
/// each.
template <class T>
void all_reduce(std::span<T> values, reduction how) {
  static_assert(detail::is_reducible<T>, "all_reduce combines integers and floating-point numbers of 4 or 8 bytes");
  detail::all_reduce(values.data(), values.size(), sizeof(T),
                     std::is_floating_point_v<T> ? 2
                     : std::is_unsigned_v<T>     ? 1
                                                 : 0,
                     how);
}
template <class T>
  requires std::is_arithmetic_v<T>
[[nodiscard]] T all_reduce(T value, reduction how) {
  all_reduce(std::span<T>(&value, 1), how);
  return value;
}

}  // namespace kith
