// A buffer of bytes that resize() does not fill: the code that enlarges it writes the new bytes. For places.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace kith::detail {

/// Leaves elements that are constructed without a value uninitialised. Filling a message of 1 MiB with zeros takes
/// about as long as receiving it.
template <class T>
class uninitialized_allocator : public std::allocator<T> {
 public:
  template <class U>
  struct rebind {
    using other = uninitialized_allocator<U>;
  };

  template <class U>
  void construct(U* at) noexcept(noexcept(::new(static_cast<void*>(at)) U)) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};

using byte_buffer = std::vector<std::byte, uninitialized_allocator<std::byte>>;

}  // namespace kith::detail
