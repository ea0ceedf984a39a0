// A broken invariant ends the program and prints the invariant's name. Wrong input throws kith::error instead.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace kith {

[[noreturn]] inline void broken(const char* invariant, const char* file, int line) noexcept {
  std::fprintf(stderr, "kith: broken invariant: %s (%s:%d). This is a fault in Kith; please report it.\n", invariant,
               file, line);
  std::abort();
}

}  // namespace kith

/// Checked in every build. For places outside of hot paths.
#define KITH_INVARIANT(holds, name) ((holds) ? (void)0 : ::kith::broken(name, __FILE__, __LINE__))

/// Checked in builds without NDEBUG.
#ifdef NDEBUG
#define KITH_ASSERT(holds, name) ((void)0)
#else
#define KITH_ASSERT(holds, name) KITH_INVARIANT(holds, name)
#endif
