// The edges that a new task's accesses and predecessors require (create.cpp). Called by the scope's owner, after
// edges::start_join().
#pragma once

#include "engine/native/seat.hpp"

#include <kith/detail/creation.hpp>

#include <cstdint>
#include <span>

namespace kith::native {

/// A task's accesses before `rest` have been ordered, by so many edges.
struct ordered {
  const detail::access_record* rest;
  std::uint32_t edges;
};

/// The straight path: orders the accesses up to the first one that needs more than a look at its region. Calls nothing
/// and throws nothing. REQUIRES: accesses are not kept.
ordered order_plainly(detail::scope& s, task& t, reference me, ordered from, const detail::access_record* end);

/// A task that is being created.
struct new_task {
  task& t;
  reference me;
  ordered done;
  const detail::hints& h;
  std::span<const detail::access_record> records;
  std::span<const task_ref> before;
};

/// Orders the task behind n.before, and its accesses from n.done.rest on; returns the number of its edges. If that
/// fails, some regions' states may already know the task, so it must still be handed over: its body is then marked to
/// be skipped, and self.failed_declaration has the reason.
std::uint32_t order_fully(native_seat& self, detail::scope& s, const new_task& n);

}  // namespace kith::native
