// Sizes that tests of placement use. The page is the one that policies place, not the system's (allocated.hpp).
#pragma once

#include <cstdint>

namespace kith::test {

inline constexpr std::uint64_t page = 4096, megabyte = 1 << 20;

}  // namespace kith::test
