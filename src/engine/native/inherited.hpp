// What becomes of engines in a child of fork(): docs/neighbours.md says what programs see.
//
// The child has one thread, the one that forked, and a copy of the engines' memory. Invariants:
//  F1  No worker of an inherited engine runs in the child: its threads are the parent's, and the thread that forked inside a
//      task is a worker no more. If it comes back from the task, the process ends with a sentence (end_child).
//  F2  The child writes nothing into the parent's recordings, and holds neither their locks nor the claims on CPUs.
//  F3  An inherited engine is never destroyed, and can be reached: leak checkers are content.
#pragma once

#include <cstdint>

namespace kith::native {

class engine;

/// From now on the engine is cut off in children. Ends with leave().
void join_engines(engine& e);
void leave_engines(engine& e) noexcept;
/// The engine of this number; null if it has ended, or is the parent's.
engine* engine_of_number(std::uint64_t number) noexcept;
/// Wakes the sleeping workers of every engine of this process: something was completed that any of them may wait for.
void wake_every_engine() noexcept;
/// The thread that forked inside a task has returned from it, in the child: F1.
[[noreturn]] void end_child() noexcept;
/// True in a child whose parent had engines, while it has none of its own: nobody completes anything.
bool nobody_works_here() noexcept;

}  // namespace kith::native
