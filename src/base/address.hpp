// The only place that turns a number into a pointer: for page arithmetic, for names of simulated
// data, and for addresses that an ABI passes as numbers.
#pragma once

#include <cstdint>

namespace kith {

inline void* at_address(std::uintptr_t number) noexcept {
  return reinterpret_cast<void*>(number);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace kith
