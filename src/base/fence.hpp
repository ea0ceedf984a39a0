// A pair of fences of unequal price: one side pays next to nothing, the other a system call.
//
// Of two threads that each store and then look at what the other stored, at least one must see the other.
// Usually both need a full fence. Here the frequent side runs frequent_fence(), which only restrains the compiler, and
// the rare side runs process_fence(), which makes the kernel run a full fence on every core that executes this process
// (membarrier). Where the kernel refuses, both sides run full fences.
#pragma once

#include "base/atomic.hpp"

#ifdef KITH_INTERLEAVE
namespace kith {
inline void frequent_fence() noexcept { light_fence(); }
}  // namespace kith
#else

namespace kith {

/// True if membarrier serves this process; decided once, before the first worker starts.
bool membarrier_serves() noexcept;

namespace detail {
extern const bool frequent_side_is_free;
}

/// The frequent side: after its store, before its look. Pairs with process_fence().
inline void frequent_fence() noexcept {
  if (detail::frequent_side_is_free) {
    light_fence();
  } else {
    full_fence();
  }
}

/// The rare side: after its store, before its look. Pairs with frequent_fence(). About 1 to 10 us.
void process_fence() noexcept;

}  // namespace kith
#endif
