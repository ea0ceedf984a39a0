// Decides who runs a queued task: the worker that takes it from the queue, or one that claims it past the
// queue. Used by both engines.
//
//     created ─► queued ─► running                   taken from the queue: the entry, its last name, is gone
//                   └────► claimed ─► ended          the entry is still there: dropping it frees the slot
//                              └────► dropped        the entry is gone: the task's end frees the slot
//
// Invariants, for tasks that may be claimed (task::claimable); other tasks are running once they are taken:
//  K1  Exactly one of the workers that want to run a queued task succeeds: by the exchange from `queued`.
//  K2  Two parties remain for a claimed task: its end, and its queue's entry. Both try to exchange from `claimed`. The
//      second one frees the slot, and sees all that the first one did.
//  K3  Until then the slot is not reused: a policy that holds the entry may read the task.
#pragma once

#include "base/atomic.hpp"
#include "task/task.hpp"

namespace kith::life {

/// The state of a task where only one thread runs, with the interface of an atomic.
struct sequential_state {
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

/// Claims a queued task past its queue, which then has a dead entry. False if the task is not queued.
template <class State>
[[gnu::always_inline]] inline bool claim(State&& state) noexcept {
  task_state now = task_state::queued;
  if (state.load(relaxed) != now) return false;
  // acquire: pairs with mark_queued(): the claimer sees the task's contents.
  return state.compare_exchange_strong(now, task_state::claimed, acquire, relaxed);
}

enum class taken_entry : std::uint8_t {
  runs,  // the caller must run the task
  dead,  // the task was claimed; its end will free the slot
  last,  // the task was claimed and has ended; the caller must free the slot
};

/// The caller has taken the task's entry out of its queue.
template <class State>
[[gnu::always_inline]] inline taken_entry take(State&& state) noexcept {
  task_state now = task_state::queued;
  // acquire: as in claim(); on failure it pairs with ended(), because the slot may be freed here.
  if (state.compare_exchange_strong(now, task_state::running, acquire, acquire)) return taken_entry::runs;
  // release: pairs with ended(), which frees the slot that the caller has read; acquire on failure: as above.
  if (now == task_state::claimed && state.compare_exchange_strong(now, task_state::dropped, release, acquire))
    return taken_entry::dead;
  return taken_entry::last;
}

/// Whether an entry seen in a queue is dead.
template <class State>
[[gnu::always_inline]] inline bool is_dead(State&& state) noexcept {
  return state.load(relaxed) != task_state::queued;
}

/// The task has ended. True if the caller must free the slot; false if its entry is still in a queue.
template <class State>
[[gnu::always_inline]] inline bool ended(State&& state) noexcept {
  task_state now = task_state::claimed;
  // release: pairs with take(), which frees the slot; acquire on failure: pairs with take(), whose caller has
  // finished reading the task.
  return !state.compare_exchange_strong(now, task_state::ended, release, acquire);
}

}  // namespace kith::life
