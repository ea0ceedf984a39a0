// Prefetches of lines that another core may have written last, and that this one is about to write. Without them, a
// line that is read first comes twice: once to be read, and once more to be written.
#pragma once

#include "base/address.hpp"

#include <cstdint>

namespace kith {

/// Any address will do: a line that is not mapped is not fetched.
inline void prefetch_to_write(const void* p) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw (%0)" : : "r"(p));  // compilers give it to few targets
#else
  __builtin_prefetch(p, 1);
#endif
}

/// The first two lines of an object, which begins with a line. It may be null.
template <class T>
[[gnu::always_inline]] inline void prefetch_two_to_write(const T* object) noexcept {
  prefetch_to_write(object);
  if constexpr (sizeof(T) > 64) prefetch_to_write(at_address(reinterpret_cast<std::uintptr_t>(object) + 64));
}

}  // namespace kith
