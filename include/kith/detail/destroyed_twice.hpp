// A defect of GCC 12 that calls with co_await must avoid.
#pragma once

#include <type_traits>

namespace kith::detail {

/// Whether GCC 12 destroys a temporary F of a co_await statement twice; later ones and Clang do it once.
template <class F>
inline constexpr bool is_destroyed_twice =
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
    !std::is_lvalue_reference_v<F> && !std::is_trivially_destructible_v<F>;
#else
    false;
#endif

}  // namespace kith::detail
