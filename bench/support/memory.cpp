#include "memory.hpp"

#include <malloc.h>

#include <fstream>
#include <stdexcept>
#include <string>

namespace kith::bench {

namespace {

std::int64_t resident_anonymous() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stoll(line.substr(8)) * 1024;
  }
  throw std::runtime_error("bytes per task: no RssAnon in /proc/self/status; expected Linux 4.5 or later");
}

}  // namespace

std::int64_t live_bytes() {
  // Resident memory, less the C library's heap, plus the part of the heap that is in use.
  const struct mallinfo2 heap = mallinfo2();
  return resident_anonymous() - static_cast<std::int64_t>(heap.arena) + static_cast<std::int64_t>(heap.uordblks);
}

std::int64_t heap_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
}

}  // namespace kith::bench
