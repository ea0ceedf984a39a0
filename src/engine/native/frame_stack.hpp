// The stacks on which coroutines have their frames (include/kith/detail/frame_stack.hpp), and each worker's spare ones.
#pragma once

#include "base/atomic.hpp"

#include <kith/detail/frame_stack.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::detail {

/// 64 KiB of frames, aligned to their size, so that the address of a frame gives its segment.
class frame_segment {
 public:
  static constexpr std::size_t bytes = std::size_t{64} << 10;
  static frame_segment& containing(void* inside) noexcept {
    std::byte* const at = static_cast<std::byte*>(inside);
    return *reinterpret_cast<frame_segment*>(at - reinterpret_cast<std::uintptr_t>(at) % bytes);
  }
  /// Throws std::bad_alloc.
  static frame_segment* make(frame_stack& owner, frame_segment* below);
  void destroy() noexcept;

  std::byte* begin() noexcept;
  std::byte* end() noexcept { return reinterpret_cast<std::byte*>(this) + bytes; }
  /// Marks a frame that has ended (S2 of kith/detail/frame_stack.hpp).
  void mark(std::byte* frame, std::size_t size) noexcept;
  /// Clears the mark of the frame that ends at `top`, and returns its size; 0 if it has no mark.
  std::size_t unmark(std::byte* top) noexcept;

  frame_stack& stack;
  frame_segment* const below;
  frame_segment* above = nullptr;  // the next segment, kept although it is empty
  std::byte* top = nullptr;        // valid while there are frames in the next segment

 private:
  frame_segment(frame_stack& owner, frame_segment* under) noexcept : stack(owner), below(under) {}
  std::size_t unit_before(const std::byte* at) const noexcept {
    return static_cast<std::size_t>(at - reinterpret_cast<const std::byte*>(this)) / frame_unit - 1;
  }

  atomic<std::uint64_t> marks_[bytes / frame_unit / 64]{};
};

/// A stack of segments. A lane that holds it has its top.
class frame_stack {
 public:
  /// Throws std::bad_alloc.
  frame_stack() : first_(frame_segment::make(*this, nullptr)), room_{first_->begin(), first_->end(), this} {}
  ~frame_stack();
  frame_stack(const frame_stack&) = delete;
  frame_stack& operator=(const frame_stack&) = delete;

  frame_room take() const noexcept { return room_; }
  void give(const frame_room& r) noexcept { room_ = r; }
  /// Gives segments without frames back to the system, but for one. REQUIRES: no lane holds it.
  void shrink() noexcept;
  /// Removes marked frames from the top. True if no frame is left. REQUIRES: no lane holds it.
  bool collect_and_check_empty() noexcept;

  /// Continues in the next segment. Throws std::bad_alloc.
  static void grow(frame_room&);
  /// Removes marked frames from the top.
  static void collect(frame_room&) noexcept;

  frame_stack* next = nullptr;  // in the list of stacks that are never freed

 private:
  frame_segment* const first_;
  frame_room room_;
};

/// The spare stacks of a worker.
class spare_frame_stacks {
 public:
  spare_frame_stacks() = default;
  ~spare_frame_stacks();
  spare_frame_stacks(const spare_frame_stacks&) = delete;
  spare_frame_stacks& operator=(const spare_frame_stacks&) = delete;
  /// Throws std::bad_alloc.
  frame_stack& take();
  void keep(frame_stack&) noexcept;

 private:
  std::vector<frame_stack*> all_;
};

/// Destroys a stack. One that still has frames stays as long as the process lives, because these may yet be freed.
void end_frame_stack(frame_stack*) noexcept;

}  // namespace kith::detail
