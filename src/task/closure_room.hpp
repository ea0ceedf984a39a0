// Room for a task's closure and accesses: in the slot if they fit, else in one heap block.
#pragma once

#include "task/task.hpp"

#include <cstddef>

namespace kith {

/// Whether the closure and the accesses fit the slot.
inline bool fits_slot(std::size_t bytes, std::size_t align, std::size_t accesses) noexcept {
  return bytes + accesses * sizeof(kept_access) <= task::payload_bytes && align <= alignof(std::max_align_t);
}

/// Resets the flags of a task whose closure and accesses fit its slot. The closure's place is the payload.
inline void clear_flags(task& t, std::size_t accesses) noexcept {
  t.flags = 0;
  t.accesses = static_cast<std::uint8_t>(accesses & 15);
  t.exploring = t.colored = t.unused = 0;
}

/// Prepares the payload for a closure of this size and `accesses` kept accesses; returns the closure's place.
/// Resets the flags. Throws std::bad_alloc.
inline void* make_room(task& t, std::size_t bytes, std::size_t align, std::size_t accesses) {
  clear_flags(t, accesses);
  if (fits_slot(bytes, align, accesses)) return t.payload;
  const std::size_t header = sizeof(task::extension_header) + accesses * sizeof(kept_access);
  const std::size_t closure_at = (header + align - 1) / align * align;
  const std::size_t block_align = align > alignof(task::extension_header) ? align : alignof(task::extension_header);
  void* block = ::operator new(closure_at + bytes, std::align_val_t(block_align));
  auto* h = ::new (block)
      task::extension_header{static_cast<std::byte*>(block) + closure_at, static_cast<std::uint32_t>(accesses),
                             static_cast<std::uint32_t>(block_align)};
  std::memcpy(t.payload, &h, sizeof h);
  t.flags = task::extended;
  return h->closure;
}

/// Frees the heap block, if there is one. The closure must already be destroyed.
inline void free_room(task& t) noexcept {
  if ((t.flags & task::extended) == 0) return;
  task::extension_header* h = t.extension();
  ::operator delete(h, std::align_val_t(h->align));
}

}  // namespace kith
