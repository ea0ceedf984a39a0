// Who runs a task that is in a queue: whoever takes it from there, or a worker that waits for it and claims it past the
// queue. In both engines.
//
//     created ─► queued ─► running                   taken from the queue: the entry is gone, and with it all that names it
//                   └────► claimed ─► ended          the entry is still there: who drops it frees the slot
//                              └────► dropped        the entry is gone: the task's end frees the slot
//
// Invariants, for tasks that may be claimed (task::claimable); the others are running once they are taken:
//  K1  Of all who want to run a queued task one succeeds: the exchange from `queued`.
//  K2  A claimed task has two parties left, its end and its queue's entry. Both exchange from `claimed`; the one that comes
//      second frees the slot, once, and sees all that the first one did.
//  K3  Until then the slot is not reused: a policy that holds the entry may read the task.
#pragma once

#include "base/atomic.hpp"
#include "task/task.hpp"

namespace kith::life {

/// The state of a task where one thread does everything, with the interface of an atomic.
struct plain_state {
  task_state& value;
  task_state load(std::memory_order) const noexcept { return value; }
  bool compare_exchange_strong(task_state& expected, task_state wanted, std::memory_order, std::memory_order) const {
    if (value != expected) {
      expected = value;
      return false;
    }
    value = wanted;
    return true;
  }
};

/// Claims a queued task past its queue; false if it is not there (any more). Its queue has a dead entry then.
template <class State>
[[gnu::always_inline]] inline bool claim(State&& state) noexcept {
  task_state now = task_state::queued;
  if (state.load(relaxed) != now) return false;
  // acquire: the task's contents, stored before it was queued.
  return state.compare_exchange_strong(now, task_state::claimed, acquire, relaxed);
}

enum class taken_entry : std::uint8_t {
  runs,  // the task is the caller's to run
  dead,  // it was claimed; its end will free the slot
  last,  // it was claimed and has ended: the caller frees the slot
};

/// The caller has taken the task's entry out of its queue.
template <class State>
[[gnu::always_inline]] inline taken_entry take(State&& state) noexcept {
  task_state now = task_state::queued;
  // acquire: as in claim(), and on failure what ended() released, whose slot is freed here.
  if (state.compare_exchange_strong(now, task_state::running, acquire, acquire)) return taken_entry::runs;
  // release: pairs with ended(), which frees what the caller has read; acquire on failure: as above.
  if (now == task_state::claimed && state.compare_exchange_strong(now, task_state::dropped, release, acquire))
    return taken_entry::dead;
  return taken_entry::last;
}

/// Whether an entry that is seen in a queue is dead.
template <class State>
[[gnu::always_inline]] inline bool is_dead(State&& state) noexcept {
  return state.load(relaxed) != task_state::queued;
}

/// The task has ended: true if the caller frees the slot; false: its entry is still in a queue.
template <class State>
[[gnu::always_inline]] inline bool ended(State&& state) noexcept {
  task_state now = task_state::claimed;
  // release: pairs with take(), which frees; acquire on failure: what who dropped the entry has read, it has read.
  return !state.compare_exchange_strong(now, task_state::ended, release, acquire);
}

}  // namespace kith::life
