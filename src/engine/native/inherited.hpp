// Engines in a child of fork(). docs/neighbours.md says what programs see.
//
// The child has only the thread that forked, and a copy of the engines' memory. Invariants:
//  F1  No worker of an inherited engine runs in the child: its threads are the parent's, and the thread that
//      forked inside a task is no longer a worker. If that thread returns from the task, the process ends with
//      a message (end_forked_process).
//  F2  The child writes nothing to the parent's recordings, and holds neither their locks nor the claims on CPUs.
//  F3  An inherited engine is never destroyed but stays reachable, so leak checkers do not report it.
#pragma once

#include <cstdint>

namespace kith::native {

class engine;

/// Registers the engine: it is cut off in children of fork(), until leave_engines().
void join_engines(engine& e);
void leave_engines(engine& e) noexcept;
/// The engine with this number; null if it has ended, or was inherited.
engine* engine_of_number(std::uint64_t number) noexcept;
/// Wakes the sleeping workers of all engines of this process that wait for a completion: any of them may wait for the
/// one that has just completed.
void wake_those_that_await() noexcept;
/// Called in the child if the thread that forked inside a task has returned from it (F1).
[[noreturn]] void end_forked_process() noexcept;
/// True in a child of fork() if what tasks of the engine with this number complete is never completed there, because
/// the engine is the parent's. 0: of an unknown engine; true if all engines are.
bool never_completes(std::uint64_t number) noexcept;

}  // namespace kith::native
