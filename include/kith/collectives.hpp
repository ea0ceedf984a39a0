// Operations of all places together: a barrier, a broadcast, reductions.
//
// Each place calls these in one activity at a time, and all call the same in the same order; a place that does not call
// keeps all others waiting. The caller's worker runs other tasks meanwhile. Between processes these are MPI's own
// collectives. All throw `error` if no activity runs on this thread; for more than 2^31 - 1 elements (broadcast:
// bytes); under `cws`, which has no separate places; and if the places' calls differ in operation, type, size or root:
// then all places throw, and there are no collectives until the next place_runtime. They throw place_lost if a place
// is lost.
//
// With place_loss::survivors_go_on a collective succeeds at all survivors, or throws place_lost at all of them, unless
// place 0 is lost. Each loss makes one collective throw, the same one at all survivors; several losses may share one.
// Those after it are of the survivors: a barrier waits for them alone, a reduction has their values alone, and a
// broadcast of a lost root throws place_lost at all. All data passes through place 0, which combines the values in the
// order of the places.
#pragma once

#include <kith/detail/collective_calls.hpp>
#include <kith/places.hpp>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace kith {

/// How a reduction combines two values. Unless survivors go on after a loss, the order of the values is not defined, so
/// sums of floating-point numbers may differ in their last digits from run to run.
enum class reduction : std::uint8_t { sum, least, largest };

/// Returns when all places that are not lost have called it.
inline void barrier() { detail::barrier(); }

/// Copies the values of place `root` to all places. All must pass the same number of values. A std::vector stands for
/// its elements.
template <class T, std::size_t N>
void broadcast(std::span<T, N> values, int root = 0) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_const_v<T>,
                "broadcast copies bytes into its argument: expected a trivially copyable type without pointers");
  if constexpr (!std::is_const_v<T>) detail::broadcast(values.data(), values.size_bytes(), root);
}
template <class T>
  requires std::is_trivially_copyable_v<T>
[[nodiscard]] T broadcast(T value, int root = 0) {
  constexpr bool owns = !std::is_pointer_v<T> && !std::ranges::borrowed_range<T>;
  static_assert(owns,
                "broadcast of a view or a pointer would copy where its elements are; pass what owns them, such as a "
                "std::string or a std::vector that has as many at each place");
  if constexpr (owns) broadcast(std::span<T>(&value, 1), root);
  return value;
}
template <class R>
  requires(detail::is_many<std::remove_reference_t<R>> && !std::is_trivially_copyable_v<std::remove_reference_t<R>>)
void broadcast(R&& values, int root = 0) {
  static_assert(detail::outlives_call<R>,
                "broadcast writes into its argument, and this one is a temporary; name it first");
  if constexpr (detail::outlives_call<R>) kith::broadcast(std::span(values), root);
}

/// Gives all places the sum (or the least, or the largest) of their values, element by element. All must pass the same
/// number of values. A std::vector or an array stands for its elements.
template <class T, std::size_t N>
void all_reduce(std::span<T, N> values, reduction how) {
  static_assert(!std::is_const_v<T>, "all_reduce writes what it has combined into its argument, which is const");
  static_assert(detail::is_reducible<std::remove_const_t<T>>,
                "all_reduce combines integers and floating-point numbers of 4 or 8 bytes");
  if constexpr (!std::is_const_v<T>)
    detail::all_reduce(values.data(), values.size(), sizeof(T),
                       std::is_floating_point_v<T> ? 2
                       : std::is_unsigned_v<T>     ? 1
                                                   : 0,
                       how);
}
template <class T>
  requires(!detail::is_many<T> && !std::is_pointer_v<T>)
[[nodiscard]] T all_reduce(T value, reduction how) {
  kith::all_reduce(std::span<T>(&value, 1), how);
  return value;
}
template <class R>
  requires detail::is_many<std::remove_reference_t<R>>
void all_reduce(R&& values, reduction how) {
  static_assert(detail::outlives_call<R>,
                "all_reduce writes into its argument, and this one is a temporary; name it first");
  if constexpr (detail::outlives_call<R>) kith::all_reduce(std::span(values), how);
}

}  // namespace kith
