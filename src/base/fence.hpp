// A pair of fences with unequal costs: one side pays almost nothing, the other a system call.
//
// If two threads each store and then load what the other stored, at least one must see the other's store.
// Usually both need a full fence. Here the frequent side runs frequent_fence(), which restrains only the
// compiler. The rare side runs process_fence(), which makes the kernel run a full fence on every core that
// executes this process (membarrier). If the kernel refuses, both sides run full fences.
#pragma once

#include "base/atomic.hpp"

#ifdef KITH_INTERLEAVE
namespace kith {
inline void frequent_fence() noexcept { light_fence(); }
}  // namespace kith
#else

namespace kith {

/// Whether this process can use membarrier. Decided once, before the first worker starts.
bool membarrier_serves() noexcept;

namespace detail {
extern const bool frequent_side_is_free;  // policies in shared libraries read it, too
}

/// For the frequent side, between its store and its load. Pairs with process_fence().
inline void frequent_fence() noexcept {
  if (detail::frequent_side_is_free) {
    light_fence();
  } else {
    full_fence();
  }
}

/// For the rare side, between its store and its load. Pairs with frequent_fence(). Takes about 1 to 10 us.
void process_fence() noexcept;

}  // namespace kith
#endif
