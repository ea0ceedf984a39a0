// The narrow waist: what a policy is asked.
//
// A policy decides; the engine acts, waits, wakes, counts and records. It is composed of queue blocks and its own
// per-worker state. It has no thread, lock, clock or system call of its own; its budgets count attempts; its random
// numbers are keyed; long work is submitted as a job (queue/job.hpp). The calls come from many workers at once, each
// passing itself as `self`: state kept per worker needs no protection, everything else lives in queue blocks. The
// constructor, NAME(const policy_context&, policy_options&), builds the queues; the destructor is called when they are
// empty.
//
// A worker may take a child of a task that waits, or whose body has ended, past the queue it is in. The entry that stays
// behind is dead: the engine drops it when next() returns it, and asks again. Until then the task's slot is not reused, and
// may be read. Queue blocks look for dead entries and drop them (queue/dead_entries.hpp); a policy that keeps tasks
// elsewhere keeps their slots for as long.
#pragma once

#include "policy/contract/context.hpp"
#include "policy/contract/observer.hpp"
#include "policy/contract/world.hpp"
#include "queue/poll_result.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <span>

namespace kith {

/// Why tasks became ready.
enum class ready_reason : std::uint8_t {
  creation,    // self is creating them: a task returned from ready() is run on top of the creator's stack
  completion,  // self has ended their last predecessor: a task returned is run next
  arrival,     // they came from outside the workers, and self found them
  discovery,   // self has found these nodes of a keyed graph, which are to be explored: a task returned is run next
};

template <world World>
class policy {
 public:
  using worker = typename World::worker;

  virtual ~policy() = default;

  /// Queues the tasks, all of which became ready together; may return one of them (and not queue it) to be run right
  /// now.
  virtual task* ready(std::span<task* const> tasks, worker& self, ready_reason why) = 0;
  /// What to run next. At most one remote probe a call. `empty` only if a whole round found nothing: the worker may
  /// then sleep, and will be woken by a push to a queue whose audience it is in. A policy that leaves tasks queued, though
  /// it was asked, must ring for them when that changes. Any task will do, whatever waits on the worker: the engine finds
  /// the stack on which it holds nothing up.
  virtual poll_result next(worker& self) = 0;
  /// A wait was reached on this worker; or a body has ended before its tasks; or a creator is held up by the throttle, and
  /// finds nothing to run.
  virtual void waiting(worker& /*self*/) {}

  /// What the policy reads of tasks; asked once, after construction.
  struct data_needs {
    bool homes = false;    // regions are looked up for every access, and get a home when they are first touched
    bool accesses = true;  // without it tasks may come without their accesses
  };
  virtual data_needs needs() const { return {}; }
  /// The policy itself, if it wants to observe.
  virtual kith::observer<World>* observer() noexcept { return nullptr; }
};

}  // namespace kith
