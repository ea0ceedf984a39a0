// What the probes share: a stopwatch, binding to a CPU, memory on a node.
#pragma once

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <new>

namespace kith::tools {

using clock_type = std::chrono::steady_clock;

inline double seconds_of(const std::function<void()>& f) {
  const auto begin = clock_type::now();
  f();
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

inline constexpr int repeats = 5;

/// The least of several repetitions, because disturbances only make it longer.
inline double least_seconds(const std::function<void()>& f) {
  double least = 1e30;
  for (int r = 0; r < repeats; ++r) least = std::min(least, seconds_of(f));
  return least;
}

inline void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::sched_setaffinity(0, sizeof set, &set);  // if refused, the thread runs unbound
}

/// Memory on a node, if the system allows that.
class node_memory {
 public:
  node_memory(std::size_t bytes, int os_node) : bytes_(bytes) {
    void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    at_ = static_cast<std::byte*>(p);
    unsigned long mask[16] = {};
    mask[os_node / 64] = 1ul << (os_node % 64);
    bound = ::syscall(SYS_mbind, p, bytes, MPOL_BIND, mask, sizeof mask * 8, 0) == 0;
    std::fill_n(at_, bytes, std::byte{1});
  }
  ~node_memory() { ::munmap(at_, bytes_); }
  node_memory(const node_memory&) = delete;
  node_memory& operator=(const node_memory&) = delete;
  double* doubles() const noexcept { return reinterpret_cast<double*>(at_); }
  bool bound = false;

 private:
  std::byte* at_;
  std::size_t bytes_;
};

}  // namespace kith::tools
