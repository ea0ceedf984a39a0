// The interface of all policies.
//
// A policy decides; the engine acts, waits, wakes, counts and records. It is composed of queue blocks and its own
// per-worker state. It has no thread, lock or system call of its own, and no clock but the world's now(), which is for
// statistics: its decisions count attempts, not time. Its random numbers are keyed; long work is submitted as a job
// (queue/job.hpp). Many workers call it at once, and each passes itself as `self`: per-worker state needs no
// protection, and all other state lives in queue blocks. The constructor, NAME(const policy_context&, const
// policy_options&), builds the queues; the destructor is called when they are empty.
//
// It is called in the middle of the engine's work: it calls no public function of Kith (spawn, wait, allocate, ...).
// Simulations repeat if it decides by nothing that differs between two runs, such as a task's address. What its
// constructor throws, the maker of the runtime gets. What ready() and next() throw arrives at the wait, or the creation
// of a task, on whose stack this worker is; on a stack without one it ends the program. A wait for nodes of a graph
// throws it only when they have ended, so next() must not throw for ever. Tasks that ready() has not queued by then
// never run, and such nodes never end. A ready() for a creation that throws std::bad_alloc must not have queued the
// task: its creator runs it. What waiting() throws arrives where the tasks are waited for.
//
// A worker may claim a task past its queue if the task's parent waits or its parent's body has ended. The entry
// left in the queue is dead: when next() returns it, the engine drops it and asks again. Until then the task's
// slot is not reused, and may be read. Queue blocks find and drop dead entries themselves
// (queue/dead_entries.hpp). A policy that keeps tasks elsewhere also keeps their slots from reuse.
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
  creation,    // self is creating them; a task returned from ready() runs on top of the creator's stack
  completion,  // self has ended their last predecessor; a task returned runs next
  arrival,     // they came from outside the workers, and self found them
  discovery,   // self has found these nodes of a keyed graph, that start or must be explored; a task returned runs next
};

template <world World>
class policy {
 public:
  using worker = typename World::worker;

  virtual ~policy() = default;

  /// Queues the tasks, which became ready together. May return one of them to run at once, instead of queueing it; not
  /// for `arrival`: a task that is given back must be queued, and runs late if it is not.
  virtual task* ready(std::span<task* const> tasks, worker& self, ready_reason why) = 0;
  /// Returns what to run next. Makes at most one remote probe per call. Returns `empty` only if a whole round found
  /// nothing: the worker may then sleep until a push to a queue whose audience it is in. If a policy returns `empty`
  /// and leaves tasks queued, it must ring for them when they may be taken. Any task may be returned, whatever waits on
  /// the worker: the engine picks a stack on which it blocks no wait.
  virtual poll_result next(worker& self) = 0;
  /// Called when a task on this worker begins to wait, when a body has ended before its children, or when a creator at
  /// the throttle finds nothing to run.
  virtual void waiting(worker& /*self*/) {}

  /// What the policy reads of tasks. Asked once, after construction.
  struct data_needs {
    bool homes = false;    // look up the region of every access, and give it a home at first touch
    bool accesses = true;  // if false, tasks may come without their accesses
    bool writers = false;  // keep in each region which worker wrote it last (region::writer). REQUIRES: homes
  };
  virtual data_needs needs() const { return {}; }
  /// Whether tasks so short that queueing them costs more than running them may run at their creation, without a call
  /// of ready() (runtime_options::inline_limit). Asked once, after construction. Not for a policy that places or orders
  /// them.
  virtual bool leaves_short_tasks() const { return false; }
  /// The policy itself if it observes, else null.
  virtual kith::observer<World>* observer() noexcept { return nullptr; }
};

}  // namespace kith
