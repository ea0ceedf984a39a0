// Accesses of a data_flow to elements of distributed arrays.
#pragma once

#include <kith/access.hpp>

#include <atomic>
#include <cstdint>
#include <span>
#include <type_traits>

namespace kith {

template <class T>
class distributed_array;

namespace detail {

struct array_internals;

/// Arrays that were made in this process, of any element type.
inline std::atomic<std::uint64_t> arrays_made{0};

/// Elements of an array as a task of a data_flow accesses them, and what its place must know of them.
template <class T, mode How, bool Many>
struct flow_access {
  static constexpr mode how = How;
  using element = std::conditional_t<How == mode::in, const T, T>;
  using parameter = std::conditional_t<Many, std::span<element>, element&>;

  distributed_array<T> array;
  std::uint64_t first = 0, count = 0;
  std::uint64_t read = 0, written = 0;  // versions: of what it reads, and of what it writes
};

}  // namespace detail

}  // namespace kith
