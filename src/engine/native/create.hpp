// The beginning of a task: from its creator to ready.
//
// draft_in() gives a slot with room for a closure. Once the closure is built, fill() writes what the task is, and
// note_created() tells the recording. What is between differs: create.cpp for children, group.cpp for tasks of a group,
// pending.cpp for those that wait for arguments, addressed.cpp and held.cpp.
#pragma once

#include "engine/native/seat.hpp"
#include "task/edges.hpp"
#include "task/region.hpp"
#include "task/turns.hpp"

#include <kith/detail/creation.hpp>

namespace kith::native {

/// Opens a scope for the tasks that this seat creates.
detail::scope& open_scope(native_seat& self, detail::scope* parent);

/// A slot of the seat's own, with room for a closure. Throws std::bad_alloc.
detail::draft draft_in(native_seat& self, detail::scope& in, detail::task_room room);
/// Frees the slot of a draft without a closure.
void give_draft_back(native_seat& self, task& t) noexcept;

/// Writes what a task is, up to its accesses and predecessors.
[[gnu::always_inline]] inline void fill(task& t, detail::task_code code, const detail::kept_hints& h,
                                        std::uint32_t sequence) noexcept {
  t.code = code;
  static_cast<detail::kept_hints&>(t) = h;
  t.sequence = sequence;
}

/// Names the task for the gate, if there is one: it is the next child of the task that creates on this seat.
void name_for_gate(native_seat& self, slot_index t);

/// Records that the task that runs on this seat has created `me`, if anything is recorded.
void note_created(native_seat& self, const detail::scope& in, reference me, const detail::declared& what,
                  std::uint64_t began, std::uint8_t flags = 0);

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
