// What the work-sharing constructs have in common: where the calling member is, and how it enters them.
#pragma once

#include "openmp/context.hpp"
#include "openmp/loop_plan.hpp"
#include "openmp/team.hpp"
#include "openmp/wait.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::openmp {

/// The member that the running code is, or, in an explicit task, that its thread is.
inline member& member_of(context& c) noexcept {
  return c.member != nullptr ? *c.member : c.team->members[static_cast<std::size_t>(c.thread)];
}

/// A loop or sections, as the program states it. All members state the same.
struct construct {
  loop_plan loop;
  bool by_setting = false;                // schedule(runtime): members could differ, so the first one decides
  const std::uint64_t* counts = nullptr;  // depend(sink): iterations of each loop of the nest
  std::size_t loops = 0;                  // in the nest
  std::uintptr_t* reductions = nullptr;   // the calling member's descriptor
  void** memory = nullptr;                // in: the wanted bytes; out: as many that all members share, first zero
};

/// Takes the calling member into the construct.
void enter(const construct&);
/// Takes all members of a team that has not begun into a loop, or sections, without the other wishes.
void enter_all(team&, const construct&);
/// Opens the task group of the construct's task reductions. Returns the descriptor of the member that comes first,
/// whose private blocks all use.
const std::uintptr_t* enter_reductions(team&, work_shares::entered, std::uintptr_t* descriptor);

/// Takes the calling member into a `single`. Whether it runs the block.
bool enter_single();
/// Of a `single` with copyprivate: the member that has run the block gives the address of its variables to the others.
void publish_copy(void* data);
/// What that member gives. The work share is the calling member's last one.
void* await_copy();

/// Waits until done(), unless it holds already, for what another member of a loop does. In a cancelled region that one
/// may have left without doing it.
template <class Done>
void wait_in_loop(team& in, const Done& done) {
  if (!done()) block_until(in, [&] { return done() || in.is_cancelled(); });
}

/// The calling member's next chunk of the loop that it is in; empty: none is left. Ends its chunk before.
iteration_range next_chunk();

}  // namespace kith::openmp
