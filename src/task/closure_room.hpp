// Room for a task's closure and accesses: in the slot if they fit, else in one heap block.
#pragma once

#include "task/task.hpp"

#include <cstddef>

namespace kith {

/// Makes room in the task; returns the address for the closure. Resets the flags, and the number of accesses. With
/// `keeps_accesses` false, only accesses that take turns are to be kept. Throws std::bad_alloc.
inline void* make_room(task& t, detail::task_room room, bool keeps_accesses = true) {
  using slot = detail::task_room::slot;
  t.flags = 0;
  t.accesses = room.accesses & 15;
  if (room.fits == slot::all || (room.fits == slot::closure && !keeps_accesses)) return t.payload;
  const std::size_t header = sizeof(task::extension_header) + room.accesses * sizeof(kept_access);
  const std::size_t align = room.align, closure_at = (header + align - 1) / align * align;
  const std::size_t block_align = align > alignof(task::extension_header) ? align : alignof(task::extension_header);
  void* block = ::operator new(closure_at + room.bytes, std::align_val_t(block_align));
  auto* h = ::new (block) task::extension_header{static_cast<std::byte*>(block) + closure_at, room.accesses,
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
