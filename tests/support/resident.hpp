// The amount of memory that this process uses.
#pragma once

#include "support/scale.hpp"

#include <unistd.h>

#include <fstream>

namespace kith::test {

/// Resident bytes now. Meaningless with sanitizers, because they keep what is freed.
inline long resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  long all = 0, resident = 0;
  statm >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace kith::test
