// The entries that one stack of a worker offers to other workers: halves of joins (half.hpp), and continuations of
// coroutines (continuation.hpp). join() calls these functions where its inline path does not suffice;
// engine/native/fork_join.cpp has them, and the invariants of lanes.
#pragma once

#include <kith/detail/frame_stack.hpp>
#include <kith/detail/half.hpp>
#include <kith/detail/split_deque.hpp>

#include <cstdint>

namespace kith::detail {

struct coroutine_promise;
struct strand;

/// The halves and continuations that one stack of a worker offers to other workers, and the state of coroutines on that
/// stack.
struct fork_lane {
  constexpr fork_lane(split_deque<half>::slot_pointer slots, std::uint32_t capacity, std::uint32_t least) noexcept
      : halves(slots, capacity, least) {}
  split_deque<half> halves;
  frame_room frames;
  bool unwinding = false;             // the coroutines on this stack return, because others continue them
  coroutine_promise* next = nullptr;  // while unwinding: the coroutine that this stack continues, if any
  const strand* innermost = nullptr;  // on this stack
};

/// The lane of a thread whose stack has none: it is always full.
extern constinit fork_lane no_lane;
/// The lane of the running stack; no_lane if there is none yet, or the thread is no worker, or joins are made of tasks.
extern thread_local constinit fork_lane* this_lane [[gnu::tls_model("initial-exec")]];

/// How a join runs that cannot push its half.
enum class join_by : std::uint8_t { lane, calls, tasks };
/// Called after the push in this_lane has failed: opens a lane if there is none, pushes the half there, and offers
/// halves to other workers. With `lane`, the half is the newest of this_lane; otherwise it was not pushed.
join_by offer(half&) noexcept;
/// Called when the half at this slot was public. True if it was not stolen: the caller must run it. Else it has ended.
bool await_half(fork_lane&, half&, split_deque<half>::slot_pointer) noexcept;
/// Runs `second` as a task and `first` meanwhile.
void join_as_tasks(half& first, half& second);

}  // namespace kith::detail
