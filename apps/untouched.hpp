// Memory for a program's data, without touched pages. Its distribution (`--memory`), or else the tasks that fill it,
// decide its homes. A dry run touches nothing, so the memory may be larger than the machine's.
#pragma once

#include <kith/memory.hpp>

#include <cstddef>
#include <memory>

namespace kith::apps {

struct give_back {
  void operator()(void* p) const noexcept { deallocate(p); }
};
template <class T>
using untouched = std::unique_ptr<T[], give_back>;

/// `count` values, all zero. Throws std::bad_alloc.
template <class T>
untouched<T> make_untouched(std::size_t count) {
  return untouched<T>(static_cast<T*>(allocate(count * sizeof(T))));
}

}  // namespace kith::apps
