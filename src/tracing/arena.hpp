// Memory of the recorder itself. The recorder runs inside malloc and mmap, so it takes memory from the system directly.
#pragma once

#include "base/address.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace kith::tracing {

/// The system call, bypassing the interposed function. Ends the program if the system has no memory: a recorder without
/// memory cannot go on, and its caller may be noexcept.
inline void* system_memory(std::size_t bytes) noexcept {
  const long at = ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == -1) std::abort();
  return at_address(static_cast<std::uintptr_t>(at));
}
inline void give_back(void* at, std::size_t bytes) noexcept { ::syscall(SYS_munmap, at, bytes); }

/// Memory that is never given back, in pieces of any size. Guarded by the caller.
class arena {
 public:
  void* take(std::size_t bytes) noexcept {
    bytes = (bytes + 15) / 16 * 16;
    if (bytes > left_) {
      left_ = bytes > chunk ? bytes : chunk;
      at_ = static_cast<std::byte*>(system_memory(left_));
    }
    left_ -= bytes;
    void* const here = at_;
    at_ += bytes;
    return here;
  }

 private:
  static constexpr std::size_t chunk = std::size_t{1} << 20;
  std::byte* at_ = nullptr;
  std::size_t left_ = 0;
};

/// An array of trivial T that grows. Elements that were not written are zero.
template <class T>
class growing {
 public:
  constexpr growing() = default;
  growing(const growing&) = delete;
  growing& operator=(const growing&) = delete;

  T& push(const T& value) noexcept {
    if (size_ == room_) grow();
    return at_[size_++] = value;
  }
  void pop() noexcept { --size_; }
  void clear() noexcept { size_ = 0; }
  std::size_t size() const noexcept { return size_; }
  T* data() noexcept { return at_; }
  T& operator[](std::size_t i) noexcept { return at_[i]; }
  T* begin() noexcept { return at_; }
  T* end() noexcept { return at_ + size_; }
  void release() noexcept {
    if (at_ != nullptr) give_back(at_, room_ * sizeof(T));
    at_ = nullptr;
    size_ = room_ = 0;
  }

 private:
  void grow() noexcept {
    const std::size_t more = room_ == 0 ? 65536 / sizeof(T) : 2 * room_;
    T* const fresh = static_cast<T*>(system_memory(more * sizeof(T)));
    for (std::size_t i = 0; i < size_; ++i) fresh[i] = at_[i];
    if (at_ != nullptr) give_back(at_, room_ * sizeof(T));
    at_ = fresh;
    room_ = more;
  }
  T* at_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

/// For standard containers of nodes: freed nodes are reused for nodes of the same size. Guarded by the caller.
template <class T>
struct node_allocator {
  using value_type = T;
  node_allocator() = default;
  template <class U>
  node_allocator(const node_allocator<U>&) noexcept {}
  T* allocate(std::size_t n) noexcept {
    if (n == 1 && spare != nullptr) {
      void* const at = spare;
      spare = *static_cast<void**>(at);
      return static_cast<T*>(at);
    }
    return static_cast<T*>(memory.take(n * sizeof(T) < sizeof(void*) ? sizeof(void*) : n * sizeof(T)));
  }
  void deallocate(T* at, std::size_t n) noexcept {
    if (n != 1) return;
    *reinterpret_cast<void**>(at) = spare;
    spare = at;
  }
  friend bool operator==(const node_allocator&, const node_allocator&) noexcept { return true; }

 private:
  inline static arena memory;
  inline static void* spare = nullptr;
};

}  // namespace kith::tracing
