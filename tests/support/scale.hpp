// How much work the stress tests do: KITH_TEST_SCALE, 1 by default.
#pragma once

#include "base/sanitizers.hpp"

#include <cstdint>
#include <cstdlib>

namespace kith::test {

inline int scaled(int count) {
  const char* text = std::getenv("KITH_TEST_SCALE");
  const double scale = text != nullptr ? std::atof(text) : 1.0;
  const double wanted = count * (scale > 0 ? scale : 1.0);
  return wanted < 1 ? 1 : static_cast<int>(wanted);
}

/// A sanitizer makes everything slow, and finds in a part of the cases what it finds in all of them.
inline constexpr bool sanitized = KITH_ASAN != 0 || KITH_TSAN != 0;

/// For tests of depth and of memory, which need a large number, and no other one for races.
constexpr std::uint32_t million = KITH_TSAN ? 100'000 : 1'000'000;

}  // namespace kith::test
