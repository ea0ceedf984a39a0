// The narrow waist: what a policy is asked, and what it may know.
//
// A policy decides; the engine acts, waits, wakes, counts and records. It is composed of queue blocks and its own
// per-worker state. It has no thread, lock, clock or system call of its own; its budgets count attempts; its random
// numbers are keyed; long work is submitted as a job (queue/job.hpp). The calls come from many workers at once, each
// passing itself as `self`: state kept per worker needs no protection, everything else lives in queue blocks. The constructor
// builds the queues; the destructor is called when they are empty.
//
// A worker may take a child of a task that waits, or whose body has ended, past the queue it is in. The entry that stays
// behind is dead: the engine drops it when next() returns it, and asks again. Until then the task's slot is not reused, and
// may be read. Queue blocks look for dead entries and drop them (queue/dead_entries.hpp); a policy that keeps tasks
// elsewhere keeps their slots for as long.
#pragma once

#include "memory/view.hpp"
#include "policy/team.hpp"
#include "queue/poll_result.hpp"
#include "task/identities.hpp"
#include "task/region.hpp"
#include "task/scope.hpp"

#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>

namespace kith {

/// Why tasks became ready.
enum class ready_reason : std::uint8_t {
  creation,    // by is creating them: a task returned from ready() is run on top of the creator's stack
  completion,  // by has ended their last predecessor: a task returned is run next
  arrival,     // they came from outside the workers, and by found them
  discovery,   // by has found these nodes of a keyed graph, which are to be explored: a task returned is run next
};

template <class World>
class policy {
 public:
  using worker = typename World::worker;

  /// The optional calls a policy wants; asked once, after construction.
  struct wishes {
    bool created = false;
    bool finished = false;
    bool placed = false;
    // Tasks have identities; none is taken past its queue or run at its creation unasked; commutative accesses do not
    // exclude each other, the policy sees to that; stalled() is called.
    bool order = false;
    bool homes = false;    // regions are looked up for every access, and get a home when they are first touched
    bool timed = false;    // timed() is called, for a sample of the tasks
    bool stops = false;    // stops() is called
    bool accesses = true;  // without it tasks may come without their accesses
  };
  virtual wishes wants() const { return {}; }

  virtual ~policy() = default;

  /// `t` is known with its accesses; it is not ready yet. Not for nodes of graphs, and not for tasks from outside.
  virtual void created(task& /*t*/, worker& /*by*/) {}
  /// Queues the tasks, all of which became ready together; may return one of them (and not queue it) to be run right
  /// now.
  virtual task* ready(std::span<task* const> tasks, worker& self, ready_reason why) = 0;
  /// What to run next. At most one remote probe a call. `empty` only if a whole round found nothing: the worker may
  /// then sleep, and will be woken by a push to a queue whose audience it is in. A policy that leaves tasks queued, though
  /// it was asked, must ring for them when that changes. Any task will do, whatever waits on the worker: the engine finds
  /// the stack on which it holds nothing up.
  virtual poll_result next(worker& self) = 0;
  /// The task's body and all its children have ended; `self` has ended the last of them.
  virtual void finished(task& /*t*/, worker& /*by*/) {}
  /// `self` has run the task's body, in so many nanoseconds: of the world's own time, waits within it included. Called before
  /// finished(), natively for one task in 16, in simulated time for all. Not for keyed nodes.
  virtual void timed(const task& /*t*/, worker& /*by*/, std::uint64_t /*nanoseconds*/) {}
  /// `self` looks for no more tasks: it goes on with code that waited, or sleeps. What it got last has ended, or waits.
  virtual void stops(worker& /*by*/) {}
  /// The region got its home, by first touch.
  virtual void placed(region& /*r*/, node_id /*home*/) {}
  /// All workers are about to sleep, with tasks unfinished: a policy that holds ready tasks back says whether it does so,
  /// refuses one (worker.refuse), and gives out all of them from now on. A worker woken from elsewhere may look and push
  /// meanwhile: only what was seen before `by.all_sleep()` answered true was there while all slept.
  virtual bool stalled(worker& /*by*/) { return false; }
  /// A run begins, the first of those that overlap; nothing of an earlier one is left. Other workers may be in next().
  virtual void begun() {}
  /// After the last run: what went wrong that nobody was told of; empty: nothing.
  virtual std::string last_word() const { return {}; }
  /// A wait was reached, for the scope or, by the task that created in it, for a future; or the body that created in it has
  /// ended before its tasks; or its creator is held up by the throttle, and finds nothing to run.
  virtual void waiting(detail::scope& /*s*/, worker& /*by*/) {}
};

/// What a policy is built from.
struct policy_context {
  const team& workers;
  region_table& regions;
  std::uint64_t seed;
  memory_view memory{regions, workers.served_by()};
  const identity_source* identities = nullptr;               // of tasks that are ready, for policies that wish order
  std::span<std::pmr::memory_resource* const> own_memory{};  // by node: what its queues are made of; empty: of the heap

  /// What the queues of node n are made of. It outlives the policy; any thread may use it.
  std::pmr::memory_resource* memory_of(node_id n) const noexcept {
    return own_memory.empty() ? std::pmr::new_delete_resource() : own_memory[n.index()];
  }
  std::pmr::memory_resource* memory_of(worker_id w) const noexcept { return memory_of(workers.node_of(w)); }
};

}  // namespace kith
