// The edges that a new task's accesses and predecessors require (create.cpp). Called by the scope's owner, after
// edges::start_join().
#pragma once

#include "engine/native/seat.hpp"

#include <kith/detail/creation.hpp>

#include <cstdint>
#include <exception>

namespace kith::native {

/// How far a task's accesses are ordered: all before `rest`, with `edges` edges.
struct ordered {
  const detail::access_record* rest;
  std::size_t edges;
};

/// A task that is being created.
struct new_task {
  task& t;
  task_ref me;
  ordered done;
  const detail::declared& what;

  const detail::access_record* end() const noexcept { return what.accesses.data() + what.accesses.size(); }
  /// Whether something is left for add_remaining_edges().
  bool is_unordered() const noexcept { return done.rest != end() || !what.before.empty(); }
};

/// Orders the task behind n.what.before, and its accesses from n.done.rest on; returns the number of its edges. If that
/// fails, some regions' states may already know the task, so it must still be handed over: its body is then marked to
/// be skipped, and `failure` has the reason.
std::size_t add_remaining_edges(native_seat& self, detail::scope& s, const new_task& n, std::exception_ptr& failure);

}  // namespace kith::native
