// The beginning of a task: from its creator to ready.
#pragma once

#include "engine/native/seat.hpp"
#include "task/edges.hpp"
#include "task/region.hpp"
#include "task/turns.hpp"

namespace kith::native {

/// Opens a scope for the tasks that this seat creates.
detail::scope& open_scope(native_seat& self, detail::scope* parent);

/// Copies the program's hints into the task.
inline void set_hints(task& t, const detail::kept_hints& h) noexcept { static_cast<detail::kept_hints&>(t) = h; }

/// Begins a task of a scope. make_room() has reset its flags, or the caller does.
[[gnu::always_inline]] inline void begin_in(detail::scope& in, task& t) noexcept {
  t.scope = &in;
  edges::forget_predecessors(t);
  t.state.store(task_state::created, relaxed);
}

/// In a dry run, bodies whose work is known are skipped.
inline void skip_if_dry(task& t, const detail::hints& h, bool dry) noexcept {
  if (dry && h.work >= 0) t.flags |= task::skip;
}

/// Called before the task is put into a queue: from here on a worker may claim it, if it is claimable.
[[gnu::always_inline]] inline void mark_queued(task& t) noexcept {
  // release: pairs with life::claim() and life::take(), which then see the whole task.
  t.state.store(task_state::queued, release);
}

/// Prepares a task whose predecessors have ended. True if it can be queued; false if it must wait for its turn at a
/// commutative region.
[[gnu::always_inline]] inline bool prepare_ready(const region_table& regions, task& t) {
  if ((t.flags & task::exclusive) != 0 && !take_turns(regions, t)) return false;
  mark_queued(t);
  return true;
}

}  // namespace kith::native
