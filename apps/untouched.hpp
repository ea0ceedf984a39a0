// Memory for a program's data that no page of is touched yet: the tasks that fill it decide where it is, and a dry run,
// which touches nothing, may have more of it than the machine has.
#pragma once

#include <sys/mman.h>
#include <cstddef>
#include <memory>
#include <new>

namespace kith::apps {

struct unmap {
  std::size_t bytes = 0;
  void operator()(void* p) const noexcept { ::munmap(p, bytes); }
};
template <class T>
using untouched = std::unique_ptr<T[], unmap>;

/// `count` values, all zero. Throws std::bad_alloc.
template <class T>
untouched<T> make_untouched(std::size_t count) {
  const std::size_t bytes = (count == 0 ? 1 : count) * sizeof(T);
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return untouched<T>(static_cast<T*>(p), unmap{bytes});
}

}  // namespace kith::apps
