// Identifiers as types: a worker cannot be mistaken for a core or a node.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace kith {

template <class Tag>
struct id {
  std::int32_t value = -1;  // -1: none

  constexpr id() = default;
  constexpr explicit id(std::int32_t v) : value(v) {}
  constexpr explicit operator bool() const { return value >= 0; }
  /// The id as a subscript. REQUIRES: not none.
  constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
  constexpr auto operator<=>(const id&) const = default;
};

using worker_id = id<struct worker_tag>;  // a thread of the engine, 0..workers-1
using core_id = id<struct core_tag>;      // a physical core of the machine, 0..cores-1
using node_id = id<struct node_tag>;      // a memory (NUMA) node of the machine, 0..nodes-1

}  // namespace kith
