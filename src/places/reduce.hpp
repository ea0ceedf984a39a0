// What the transports share of collectives: the reduction of the values of two places, and the message if the places'
// calls differ.
#pragma once

#include "places/transport.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace kith::distributed {

template <class T>
void reduce_as(const collective& into, const std::byte* from) {
  for (std::size_t i = 0; i < into.count; ++i) {
    T a, b;
    std::memcpy(&a, into.data + i * sizeof(T), sizeof a);
    std::memcpy(&b, from + i * sizeof(T), sizeof b);
    switch (into.what) {
      case collective::operation::sum: a = static_cast<T>(a + b); break;
      case collective::operation::least: a = std::min(a, b); break;
      case collective::operation::largest: a = std::max(a, b); break;
      case collective::operation::barrier:
      case collective::operation::broadcast: break;
    }
    std::memcpy(into.data + i * sizeof(T), &a, sizeof a);
  }
}

/// Combines the elements of a reduction with those at `from`, which need no alignment.
inline void reduce(const collective& into, const std::byte* from) {
  switch (into.element_type) {
    case collective::element::byte: break;
    case collective::element::i32: return reduce_as<std::int32_t>(into, from);
    case collective::element::u32: return reduce_as<std::uint32_t>(into, from);
    case collective::element::i64: return reduce_as<std::int64_t>(into, from);
    case collective::element::u64: return reduce_as<std::uint64_t>(into, from);
    case collective::element::f32: return reduce_as<float>(into, from);
    case collective::element::f64: return reduce_as<double>(into, from);
  }
}

/// The text of the error: the collectives with this number differ at two places.
inline std::string differing(std::uint64_t number, int place, int other) {
  return "collective " + std::to_string(number) + " of place " + std::to_string(place) +
         " differs from that of place " + std::to_string(other) +
         "; expected the same operations, types and sizes in the same order at all places";
}

}  // namespace kith::distributed
