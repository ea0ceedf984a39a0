// Memory for the frames of coroutines: stacks of segments, bumped by their owner.
//
// A lane has one stack at a time. A frame is nearly always the newest of its stack when it ends, so it costs no more
// than moving a pointer. Any other frame (a coroutine that was never awaited, or ends after a newer one, or where
// another lane has the stack) leaves a mark in its segment, and the owner removes it later. Invariants:
//  S1  Only the lane that holds a stack may bump it, and one lane holds it at a time. A lane that gives a stack away
//      has stored its top before, and the lane that takes it sees that (by the count of the continuation where they
//      meet).
//  S2  Marks may be set by any thread, and only the owner clears them. A mark is at a frame's end, so that the owner
//      finds it when its top is there.
//  S3  Frames of segments have addresses of 16 modulo 32; those of the heap are multiples of 32.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::detail {

class frame_stack;

inline constexpr std::size_t frame_unit = 32;

/// A lane's part of the stack that it holds: where the next frame goes, and where the segment ends.
struct frame_room {
  std::byte* top = nullptr;
  std::byte* end = nullptr;
  frame_stack* stack = nullptr;
};

constexpr std::size_t frame_bytes(std::size_t bytes) noexcept { return (bytes + frame_unit - 1) & ~(frame_unit - 1); }

/// For a segment that is full, a thread without a lane, or a frame that is too large: these are on the heap.
/// Throws std::bad_alloc. `bytes` is a result of frame_bytes(), also below.
[[gnu::cold]] void* allocate_frame_slowly(std::size_t bytes);
/// For a frame that is not the newest of the lane's stack. Any thread.
[[gnu::cold]] void free_frame_slowly(void* frame, std::size_t bytes) noexcept;

[[gnu::always_inline]] inline void* allocate_frame(frame_room& room, std::size_t bytes) {
  std::byte* const at = room.top;
  if (static_cast<std::size_t>(room.end - at) < bytes) [[unlikely]]
    return allocate_frame_slowly(bytes);
  room.top = at + bytes;
  return at;
}

[[gnu::always_inline]] inline void free_frame(frame_room& room, void* frame, std::size_t bytes) noexcept {
  std::byte* const at = static_cast<std::byte*>(frame);
  if (at + bytes != room.top) [[unlikely]]
    return free_frame_slowly(frame, bytes);
  room.top = at;
}

}  // namespace kith::detail
