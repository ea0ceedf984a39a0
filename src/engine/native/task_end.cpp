// The end of a task: from the end of its body to the tasks that this makes ready.
//
// A task ends when its body and all its children have ended. If the body ends first, the scope of its children
// is left (C5 in scope.hpp), and the worker that ends the last child ends the task; no worker waits. report.cpp has how
// a scope learns of the ends.
#include "engine/life/claim.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/seat_log.hpp"
#include "engine/native/worker.hpp"
#include "task/closure_room.hpp"
#include "task/edges.hpp"
#include "task/turns.hpp"

#include <utility>
#include <vector>

namespace kith::native {

/// Frees the slot, unless a queue still holds an entry for the task, because the policy may read the task until then.
[[gnu::always_inline]] inline void worker::retire(task& t) {
  if ((t.flags & task::claimable) != 0 && !life::ended(t.state)) return;
  free_room(t);
  give_slot(t);
}

[[gnu::noinline]] void worker::give_slot_back(task& t) {
  slots.give(t, [this](std::uint16_t owner) -> slot_cache& { return engine.slots_of(owner); });
}

/// Ends a run in which the body of t has ended, but t has not.
[[gnu::noinline]] task* worker::end_run_in_full(task& t, detail::outcome how) {
  if (how != detail::outcome::held) return end_phase(t, how);
  const bool held = !std::exchange(nothing_held_, false);
  if (detail::scope* const children = std::exchange(left_children_, nullptr); children != nullptr) {
    if (leave(t, *children, held)) return nullptr;
  }
  if (held && destroy_closure(t)) return nullptr;
  return end(t);
}

/// Destroys the closure of `t`, whose body and children have ended, as a part of t: what destructors of captures create
/// are its children. True if some of these are unfinished: the last of them then ends t.
bool worker::destroy_closure(task& t) {
  detail::scope* children;
  {
    const runs_as as_part(*this, &t);
    t.code(t.closure(), detail::action::discard);
    children = children_scope;
  }
  return children != nullptr && leave(t, *children, false);
}

/// Leaves the scope of the children of `t`, whose body has ended. True if some are unfinished: the last of them then
/// ends t, which may have ended already.
bool worker::leave(task& t, detail::scope& children, bool held) {
  if (children.unfinished() == 0) {
    std::exception_ptr failure = children.take_failure();
    give_scope(children);
    if (failure) [[unlikely]]
      fail_late(t, std::move(failure), held);
    return false;
  }
  tell_waiting(children);
  if (children.listed && !children.leveled) {
    if (adopted_.size() >= adopted_bound_) adopted_bound_ = edges::drop_stale(adopted_, engine.space, 256);
    adopted_.insert(adopted_.end(), children.children.begin(), children.children.end());
  }
  children.forget_names();
  detail::scope& outer = *t.scope;
  bool empty;
  if (end_is_of_child(t, outer, held)) {
    empty = children.leave_in_place_of(outer);
    give_scope_to(*this, outer);
    retire(t);
  } else {
    empty = children.leave(t, held);
  }
  if (empty) {
    left_and_empty_.push_back(&children);
    requeue(end_left(nullptr));
  }
  return true;
}

/// Whether the end of `t` cannot be told from that of its children: it has no successors, no living task could
/// still name it as a predecessor (its siblings and its parent's body have ended), and nothing must be done at
/// its end. If so, closes it.
bool worker::end_is_of_child(task& t, detail::scope& outer, bool held) {
  if (held || (t.flags & task::exclusive) != 0 || engine.policy.has_gate() || engine.options.throttle_bytes != 0)
    return false;
  if (outer.left_by.load(relaxed) == nullptr) return false;
  if (reporting_ == &outer) report_one();
  // acquire: pairs with leave() and unreported_ends::report().
  if (outer.ended_elsewhere.load(acquire) != unreported_ends::left - 1) return false;
  return !outer.failed.load(relaxed) && edges::close_if_alone(t);
}

task* worker::end(task& t) {
  const std::uint32_t first = edges::close(t);
  if (first == 0 && (t.flags & task::exclusive) == 0 && !engine.policy.has_gate()) [[likely]] {
    const bool more = ended_in(*t.scope, throttled_bytes(t));
    retire(t);
    return more ? end_left(nullptr) : nullptr;
  }
  return end_with_successors(t, first);
}

task* worker::end_with_successors(task& t, std::uint32_t first) {
  release_from(first);
  if ((t.flags & (task::exclusive | task::phased)) != 0 || engine.policy.has_gate()) [[unlikely]]
    pass_turns(t);
  const bool more = ended_in(*t.scope, throttled_bytes(t));
  retire(t);
  return start_released(nullptr, more);
}

void worker::release_from(std::uint32_t first) {
  edges::release(engine.space, first, id, [this](task& r) { add_released(nullptr, r); });
}

/// Takes over the tasks that the end of a task has released, r and `before` (may be null) before it: puts them into
/// batch_, or into internal_.
[[gnu::noinline]] void worker::add_released(task* before, task& r) {
  if (before != nullptr) batch_.push_back(before);
  edges::free_overflow(engine.space, r, [this](task& b) { give_slot(b); });
  if ((r.flags & task::internal) != 0) {
    internal_.push_back(&r);
  } else if (prepare_ready(engine.regions, r)) {
    batch_.push_back(&r);
  }
}

/// Starts what else the end of such a task allows, before its scope learns of the end.
[[gnu::noinline]] void worker::pass_turns(task& t) {
  if ((t.flags & task::exclusive) != 0) {
    const std::size_t known = batch_.size();
    give_turns(engine.regions, t, batch_);
    for (std::size_t i = known; i < batch_.size(); ++i) mark_queued(*batch_[i]);
  }
  engine.policy.ended(t, *this);
  if ((t.flags & task::phased) != 0) count_begun(*t.scope, batch_.size());
}

/// Internal tasks have no body and end at once. True as for ended_in().
[[gnu::noinline]] bool worker::end_internal() {
  bool more = false;
  while (!internal_.empty()) {
    task& f = *internal_.back();
    internal_.pop_back();
    release_from(edges::close(f));
    more = ended_in(*f.scope, 0) || more;
    retire(f);
  }
  return more;
}

/// Hands on what a task that has ended and is retired has released, `last` (may be null) after batch_. `more`: what
/// ended_in() has returned.
task* worker::start_released(task* last, bool more) {
  if (last != nullptr) batch_.push_back(last);
  if (!internal_.empty()) more = end_internal() || more;
  task* next = nullptr;
  if (!batch_.empty()) {
    struct cleared {  // also if the policy throws: it may have queued some of them
      std::vector<task*>& tasks;
      ~cleared() { tasks.clear(); }
    } const handed_over{batch_};
    next = make_ready(batch_, ready_reason::completion);
  }
  return more ? end_left(next) : next;
}

/// The end of run() for a task of another worker's scope, or one that has released several tasks, `last` (may be null)
/// after batch_.
[[gnu::noinline]] task* worker::end_run_with_batch(task& t, task* last) {
  const bool more = ended_in(*t.scope, 0);
  give_slot(t);
  return start_released(last, more);
}

/// Ends the tasks whose bodies ended earlier and whose last child has ended now. Returns one task to run next,
/// of `next` and those that this makes ready, and requeues the others. It is a loop, not a recursion, because
/// the end of a task may end its ancestors.
task* worker::end_left(task* next) {
  if (ending_left_) return next;
  const raised_flag ending(ending_left_);
  while (!left_and_empty_.empty()) {
    detail::scope& children = *left_and_empty_.back();
    left_and_empty_.pop_back();
    task* const left_by = children.left_by.load(relaxed);
    if (left_by == nullptr) {  // abandon()
      give_scope_to(*this, children);
      continue;
    }
    task& t = *left_by;
    const bool held = children.held;
    std::exception_ptr failure = children.take_failure();
    give_scope_to(*this, children);
    if (failure) [[unlikely]]
      fail_late(t, std::move(failure), held);
    if (held) {
      ending_left_ = false;  // a destructor may wait for what ends here
      const bool has_more = destroy_closure(t);
      ending_left_ = true;
      if (has_more) continue;
    }
    if (log != nullptr) [[unlikely]]
      log->completed(edges::reference_to(engine.space, t).packed().value);
    task* further = nullptr;
    try {
      further = end(t);
    } catch (...) {
      requeue(next);
      throw;
    }
    if (further != nullptr) requeue(std::exchange(next, further));
  }
  return next;
}

/// Counts the failure of a child that came after the end of t's body as t's own.
void worker::fail_late(task& t, std::exception_ptr why, bool held) {
  if (held) {
    try {
      std::rethrow_exception(why);
    } catch (...) {  // makes it std::current_exception() for the closure
      if (t.code(t.closure(), detail::action::fail) == detail::outcome::ended) return;
    }
  }
  t.scope->fail(std::move(why));
}

}  // namespace kith::native
