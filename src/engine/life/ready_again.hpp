// How tasks that are ready reach the policy again, and for which reason. Used by both engines.
#pragma once

#include "policy/contract/policy.hpp"
#include "task/task.hpp"

#include <span>

namespace kith::life {

/// Gives back a task that a worker was to run next and cannot run now. The policy may answer with another one, which is
/// given back in turn. ready(tasks, why) is the policy's. Returns null, or the task if the policy does not queue it:
/// then the caller must see to it that it runs.
template <class Ready>
task* give_back(task* t, const Ready& ready) {
  while (t != nullptr) {
    task* const next = ready(std::span<task* const>(&t, 1), ready_reason::arrival);
    if (next == t) return t;
    t = next;
  }
  return nullptr;
}

// ---- nodes of keyed graphs, which run twice (docs/decisions/a-node-is-a-task-that-runs-twice.md)

/// The reason for `found`, after `self` was explored: the nodes that were not named before; last, the node itself if it
/// has no unfinished predecessor.
inline ready_reason reason_after_exploration(std::span<task* const> found, const task& self) noexcept {
  return found.front() == &self ? ready_reason::completion : ready_reason::discovery;
}

/// The reason for successors that a computed node is the first to name. `has_next`: its end has given the worker a task
/// to run, so the policy need not return one of these.
inline ready_reason reason_after_naming(bool has_next, bool they_are_explored) noexcept {
  if (has_next) return ready_reason::arrival;
  return they_are_explored ? ready_reason::discovery : ready_reason::completion;
}

}  // namespace kith::life
