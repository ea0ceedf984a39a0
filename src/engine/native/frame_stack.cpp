#include "engine/native/frame_stack.hpp"

#include "engine/native/worker.hpp"

#include <kith/detail/fork_lane.hpp>

#include <cstring>
#include <new>
#include <utility>

namespace kith::detail {

namespace {

constexpr std::align_val_t on_heap{frame_unit};  // S3 of kith/detail/frame_stack.hpp
constexpr std::size_t odd = frame_unit / 2;      // likewise
constexpr std::size_t most_in_segment = frame_segment::bytes / 4;

bool is_on_heap(const void* frame) noexcept { return reinterpret_cast<std::uintptr_t>(frame) % frame_unit == 0; }

constinit atomic<frame_stack*> never_ended{nullptr};  // so that leak checkers see them

}  // namespace

// ---- segments

frame_segment* frame_segment::make(frame_stack& owner, frame_segment* below) {
  static_assert(sizeof(frame_segment) + 2 * frame_unit + most_in_segment < bytes);
  return ::new (::operator new(bytes, std::align_val_t{bytes})) frame_segment(owner, below);
}

void frame_segment::destroy() noexcept {
  this->~frame_segment();
  ::operator delete(this, std::align_val_t{bytes});
}

std::byte* frame_segment::begin() noexcept {
  return reinterpret_cast<std::byte*>(this) + (sizeof(frame_segment) + frame_unit - 1) / frame_unit * frame_unit + odd;
}

void frame_segment::mark(std::byte* frame, std::size_t size) noexcept {
  std::byte* const after = frame + size;
  std::memcpy(after - sizeof size, &size, sizeof size);
  const std::size_t unit = unit_before(after);
  marks_[unit / 64].fetch_or(std::uint64_t{1} << unit % 64, release);  // pairs with unmark()
}

std::size_t frame_segment::unmark(std::byte* at) noexcept {
  const std::size_t unit = unit_before(at);
  const std::uint64_t bit = std::uint64_t{1} << unit % 64;
  if ((marks_[unit / 64].load(acquire) & bit) == 0) return 0;
  marks_[unit / 64].fetch_and(~bit, relaxed);
  std::size_t size = 0;
  std::memcpy(&size, at - sizeof size, sizeof size);
  return size;
}

// ---- stacks

frame_stack::~frame_stack() {
  for (frame_segment* s = first_; s != nullptr;) std::exchange(s, s->above)->destroy();
}

void frame_stack::grow(frame_room& room) {
  frame_segment& full = frame_segment::containing(room.end - 1);
  if (full.above == nullptr) full.above = frame_segment::make(full.stack, &full);
  full.top = room.top;
  room.top = full.above->begin();
  room.end = full.above->end();
}

void frame_stack::collect(frame_room& room) noexcept {
  for (frame_segment* s = &frame_segment::containing(room.end - 1);;) {
    if (room.top == s->begin()) {
      if (s->below == nullptr) return;
      s = s->below;
      room.top = s->top;
      room.end = s->end();
    }
    const std::size_t ended = s->unmark(room.top);
    if (ended == 0) return;
    room.top -= ended;
  }
}

void frame_stack::shrink() noexcept {
  frame_segment& highest = frame_segment::containing(room_.end - 1);
  for (frame_segment* s = std::exchange(highest.above, nullptr); s != nullptr;) std::exchange(s, s->above)->destroy();
}

bool frame_stack::collect_and_check_empty() noexcept {
  collect(room_);
  return room_.top == first_->begin();
}

void end_frame_stack(frame_stack* s) noexcept {
  if (s == nullptr) return;
  if (s->collect_and_check_empty()) {
    delete s;
    return;
  }
  s->next = never_ended.load(relaxed);
  while (!never_ended.compare_exchange_weak(s->next, s, relaxed)) continue;
}

spare_frame_stacks::~spare_frame_stacks() {
  for (frame_stack* s : all_) end_frame_stack(s);
}

frame_stack& spare_frame_stacks::take() {
  if (all_.empty()) return *new frame_stack;
  frame_stack& s = *all_.back();
  all_.pop_back();
  return s;
}

void spare_frame_stacks::keep(frame_stack& s) noexcept {
  frame_room room = s.take();
  frame_stack::collect(room);
  s.give(room);
  s.shrink();
  try {
    all_.push_back(&s);
  } catch (const std::bad_alloc&) {
    end_frame_stack(&s);
  }
}

// ---- frames

void* allocate_frame_slowly(std::size_t bytes) {
  frame_room& room = this_lane->frames;
  if (this_lane == &no_lane || bytes > most_in_segment) return ::operator new(bytes, on_heap);
  if (room.stack == nullptr) {
    room = native::worker::current()->take_frame_stack().take();
  } else {
    frame_stack::grow(room);
  }
  return std::exchange(room.top, room.top + bytes);
}

void free_frame_slowly(void* frame, std::size_t bytes) noexcept {
  if (is_on_heap(frame)) return ::operator delete(frame, on_heap);
  frame_segment& in = frame_segment::containing(frame);
  const frame_stack* const stack = &in.stack;  // the owner may free the segment once it sees the mark
  in.mark(static_cast<std::byte*>(frame), bytes);
  if (this_lane->frames.stack == stack) frame_stack::collect(this_lane->frames);
}

}  // namespace kith::detail
