// The beginning of a task: from its creator to ready.
#pragma once

#include "engine/native/seat.hpp"
#include "task/region.hpp"

namespace kith::native {

/// A scope for the children of what this seat runs.
detail::scope& open_scope(native_seat& by, detail::scope* parent);

/// What the programmer said about the task. Flags were set anew before.
inline void set_hints(task& t, const detail::hints& h) noexcept {
  t.color = h.color;
  t.node = h.node >= 0 && h.node < task::no_node ? static_cast<std::uint8_t>(h.node) : task::no_node;
  t.type = h.type;
  if (h.priority != 0) t.flags |= h.priority == 1 ? task::high : task::low;
}

/// The task's predecessors have ended. True if it can be queued; false if it must first wait for its turn at a
/// commutative region.
bool prepare_ready(const region_table& regions, task& t);

/// The task is about to be put in a queue: from now on a waiting worker may claim it.
void mark_queued(task& t) noexcept;

}  // namespace kith::native
