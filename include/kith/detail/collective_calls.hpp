// What collectives call, whatever the type of the elements.
#pragma once

#include <kith/detail/serialize.hpp>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>

namespace kith {

enum class reduction : std::uint8_t;

namespace detail {

/// The elements that a reduction can combine.
template <class T>
inline constexpr bool is_reducible = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> &&
                                     (sizeof(T) == 4 || sizeof(T) == 8) && !std::is_same_v<T, long double>;

/// Whether it has elements that lie in a row, and is not a span.
template <class R>
inline constexpr bool is_many = std::ranges::contiguous_range<R&> && std::ranges::sized_range<R&> && !is_span<R>;

/// Whether what a call writes into an argument, declared as R&&, is there afterwards.
template <class R>
inline constexpr bool outlives_call = std::is_lvalue_reference_v<R> || std::ranges::borrowed_range<R>;

void barrier();
void broadcast(void* data, std::size_t bytes, int root);
/// `size`: bytes of an element; `kind`: 0 signed, 1 unsigned, 2 floating-point.
void all_reduce(void* data, std::size_t count, std::size_t size, int kind, reduction how);

}  // namespace detail

}  // namespace kith
