// Coroutines (include/kith/detail/continuation.hpp): which strand continues which coroutine, and on which stack of
// frames.
//
// A continuation is in the lane of its stack, like the halves of joins, and workers take it where they take these. The
// worker that runs the call of sync_wait() waits for all strands, also for those that only wait for tasks that they
// have created, because these tasks belong to the task that called.
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/inherited.hpp"
#include "engine/native/lane.hpp"
#include "engine/native/worker.hpp"

#include <kith/coroutine.hpp>

#include <new>
#include <utility>

namespace kith::detail {

using namespace kith::native;

void refuse_to_run_again() {
  throw error("kith::coroutine: it was moved from, or has run; each call of its function makes one that is run once");
}

void coroutine_continuation::never_run(half& /*self*/) noexcept {}

join_by offer_rest(coroutine_continuation& c) noexcept {
  worker* const w = worker::current();
  return w != nullptr ? w->offer_rest(c) : join_by::calls;
}

bool take_back_continuation(fork_lane& lane, coroutine_continuation& c, split_deque<half>::slot_pointer at) noexcept {
  if (lane.unwinding) return false;
  if (lane.halves.take_back(at, withdraw)) return true;
  if (worker::current() == nullptr)
    end_forked_process();  // in a child of fork(): the coroutine continues in the parent
  lane.unwinding = true;
  lane.next = worker::current()->arrive(c);
  return false;
}

void coroutine_root::run(coroutine_promise& first) {
  first.awaiter = this;
  worker* const w = worker::current();
  if (w == nullptr || w->captures() || w->needs_tasks()) {
    first.start();  // nothing is stolen from it, so it ends before the call does
  } else {
    w->run_coroutine(*this, first);
  }
}

}  // namespace kith::detail

namespace kith::native {

namespace {

/// Stands for the stack of a lane that had none.
constinit char none_yet;
detail::frame_stack* no_frames() noexcept { return reinterpret_cast<detail::frame_stack*>(&none_yet); }

}  // namespace

detail::join_by worker::offer_rest(detail::coroutine_continuation& c) noexcept {
  if (captures()) return detail::join_by::calls;
  if (needs_tasks()) return detail::join_by::tasks;
  return lane_ != nullptr && lane_->innermost != nullptr && offer(c) ? detail::join_by::lane : detail::join_by::calls;
}

/// Called before an entry of the running stack's lane becomes public.
void worker::prepare(detail::half& offered, detail::split_deque<detail::half>::slot_pointer at) noexcept {
  if (!offered.runs(&detail::coroutine_continuation::never_run)) return offered.prepare(joins_at(*lane_, at));
  auto& c = static_cast<detail::coroutine_continuation&>(offered);
  const detail::strand* in = lane_->innermost;
  while (at < in->base) in = in->outer;
  c.root = in->root;
  c.stack = lane_->frames.stack != nullptr ? lane_->frames.stack : no_frames();
  c.not_ended = 2;
}

/// Gives the running stack's lane this stack of frames. The one that the lane had becomes spare.
void worker::hold_frames(detail::frame_stack* held) noexcept {
  detail::frame_stack* const before = lane_->frames.stack;
  if (before == held) return;
  lane_->give_frames_away(held);
  if (before != nullptr) spare_frames_.keep(*before);
}

detail::coroutine_promise* worker::arrive(detail::awaiting& at) noexcept {
  if (at.stack == nullptr) return at.suspended;
  auto& c = static_cast<detail::coroutine_continuation&>(at);
  detail::frame_stack* const stack = c.stack == no_frames() ? nullptr : c.stack;
  const bool held = stack != nullptr && lane_->frames.stack == stack;
  if (held) lane_->give_frames_away();
  // acq_rel: pairs with the same operation of the other half, which leaves its result and the stack of frames.
  if (std::atomic_ref(c.not_ended).fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
  hold_frames(stack);
  c.stack = nullptr;
  return c.suspended;
}

/// Continues a coroutine, and then those that await it, until nothing is left for this strand. Its stack may have to
/// unwind first.
void worker::continue_strand(const detail::strand& in, detail::coroutine_promise* next) noexcept {
  for (;;) {
    if (lane_->unwinding) {
      lane_->unwinding = false;
      lane_->halves.settle(in.base);
      next = std::exchange(lane_->next, nullptr);
    }
    if (next == nullptr) return;
    detail::awaiting& awaiter = *next->awaiter;  // its frame is gone when it has ended
    next->start();
    if (lane_->unwinding) continue;
    next = arrive(awaiter);
    if (&awaiter == in.root) end_root(in);
  }
}

/// Called when the coroutine that the root waits for has ended on this stack.
void worker::end_root(const detail::strand& in) noexcept {
  detail::coroutine_root& root = *in.root;
  // If the coroutine was stolen, its strand has the stack of frames that the caller's lane had.
  if (in.stolen && root.frames != nullptr && lane_->frames.stack == root.frames) lane_->give_frames_away();
  // acq_rel: pairs with run_coroutine(). A stolen strand counts down once more, at its end.
  root.not_ended.fetch_sub(1, std::memory_order_acq_rel);
}

void worker::run_coroutine(detail::coroutine_root& root, detail::coroutine_promise& first) {
  if (!open_lane()) {
    first.destroy();
    throw std::bad_alloc();
  }
  root.task = running;
  root.owner = id.value;
  root.frames = lane_->frames.stack;
  const detail::strand mine{lane_->halves.top(), &root, lane_->innermost, false};
  lane_->innermost = &mine;
  continue_strand(mine, &first);
  lane_->innermost = mine.outer;
  // acquire: pairs with the ends of the coroutine and of strands.
  const auto has_ended = [&root] { return root.not_ended.load(std::memory_order_acquire) == 0; };
  if (!has_ended()) {
    tell_waiting();
    pending_wait w(has_ended);
    w.name = "kith::sync_wait()";
    w.unrefusable = true;
    work_until(w, nullptr);
  }
  if (root.frames != nullptr) hold_frames(root.frames);
  if (std::exception_ptr late = root.take_late()) children().fail(std::move(late));
}

/// Continues a coroutine that was stolen, as a part of the task that called sync_wait().
void worker::run_continuation(detail::coroutine_continuation& c) {
  detail::coroutine_root& root = *c.root;
  root.not_ended.fetch_add(1, std::memory_order_relaxed);  // the root does not end before this strand does
  const worker_id owner(root.owner);
  lane* const below = lane_;
  const bool another = below != nullptr && (!below->halves.empty() || below->innermost != nullptr);
  if (another) set_lane(nullptr);
  static_cast<void>(open_lane());  // there is a spare one: take_half() has looked
  {
    const runs_as as_part(*this, root.task);
    sums.add(event::half_taken);
    const detail::strand mine{lane_->halves.top(), &root, lane_->innermost, true};
    lane_->innermost = &mine;
    c.run_second(c);
    continue_strand(mine, lane_->unwinding ? nullptr : arrive(c));
    lane_->innermost = mine.outer;
    if (children_scope != nullptr) {
      if (std::exception_ptr failure = end_children()) root.fail_late(std::move(failure));
    }
  }
  if (another) {
    close_lane();
    set_lane(below);
  }
  // acq_rel: pairs with run_coroutine().
  if (root.not_ended.fetch_sub(1, std::memory_order_acq_rel) == 1 && engine.parked.wake(owner)) sums.add(event::wake);
}

}  // namespace kith::native
