// How much work the stress tests do: KITH_TEST_SCALE, 1 by default.
#pragma once

#include <cstdlib>

namespace kith::test {

inline int scaled(int count) {
  const char* text = std::getenv("KITH_TEST_SCALE");
  const double scale = text != nullptr ? std::atof(text) : 1.0;
  const double wanted = count * (scale > 0 ? scale : 1.0);
  return wanted < 1 ? 1 : static_cast<int>(wanted);
}

}  // namespace kith::test
