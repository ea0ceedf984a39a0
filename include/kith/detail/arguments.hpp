// The arguments of an activity as its caller packs them. Large ones stay where they are: the transport reads them
// there. For places.hpp.
#pragma once

#include <kith/detail/byte_buffer.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace kith::detail {

/// Bytes of the caller that belong after the first `at` bytes of the buffer.
struct outer_part {
  std::size_t at = 0;
  const std::byte* data = nullptr;
  std::size_t size = 0;
};

/// A message whose outer parts are not in its buffer. They belong to the caller, which waits until the message was
/// taken.
struct packed_arguments {
  /// From this size on, copying an argument takes longer than sending two messages instead of one.
  static constexpr std::size_t least_outer_bytes = 64 << 10;
  /// Further ones are copied.
  static constexpr std::size_t most_outer_parts = 16;

  byte_buffer buffer;
  std::vector<outer_part> outer = {};  // in their order

  std::size_t size() const noexcept {
    std::size_t all = buffer.size();
    for (const outer_part& p : outer) all += p.size;
    return all;
  }
  /// Calls visit(data, size) for each contiguous part of the message, in order. None is empty.
  template <class Visit>
  void for_each_part(const Visit& visit) const {
    std::size_t at = 0;
    for (const outer_part& p : outer) {
      if (p.at != at) visit(buffer.data() + at, p.at - at);
      visit(p.data, p.size);
      at = p.at;
    }
    if (at != buffer.size()) visit(buffer.data() + at, buffer.size() - at);
  }
  /// The whole message in one buffer.
  byte_buffer flattened() const& {
    byte_buffer all;
    all.reserve(size());
    for_each_part([&](const std::byte* data, std::size_t bytes) { all.insert(all.end(), data, data + bytes); });
    return all;
  }
  byte_buffer flattened() && { return outer.empty() ? std::move(buffer) : std::as_const(*this).flattened(); }
};

}  // namespace kith::detail
