// How a task declares the data it uses: accesses to typed handles and to raw memory.
#pragma once

#include <kith/detail/access_maker.hpp>
#include <kith/handle.hpp>

namespace kith {

/// in(x), out(x), inout(x), concurrent(x), commutative(x): an access to a handle, to an object, to a contiguous range,
/// or, with two arguments (pointer, count), to raw memory. A range may lie inside another one, at any depth (tiles and
/// their array). Two ranges that overlap, neither inside the other, are an error unless a wait separates them. Empty
/// ranges are ignored. Two accesses of one task to the same data are one: of the larger size, reading if either reads,
/// writing if either writes. The home that first touch gave a region stays with its address until the memory is given
/// back (kith::deallocate, kith::forget), or until its pages move (docs/memory.md).
/// Temporaries are refused; const data can only be accessed with `in`.
inline constexpr detail::access_maker<mode::in> in{};
inline constexpr detail::access_maker<mode::out> out{};
inline constexpr detail::access_maker<mode::inout> inout{};
inline constexpr detail::access_maker<mode::concurrent> concurrent{};
inline constexpr detail::access_maker<mode::commutative> commutative{};

}  // namespace kith
