// What a worker waits for, and which tasks may run meanwhile. The object is in the frame of the wait: it lives until
// the wait has returned, also while its stack is left. Only the worker's own thread uses it.
#pragma once

#include "engine/native/stacks.hpp"
#include "task/edges.hpp"
#include "task/scope.hpp"

#include <cstddef>
#include <string>

namespace kith::native {

struct suspended_wait;

struct pending_wait {
  /// Ends when until() is true. It must live as long as this.
  template <class Done>
  explicit pending_wait(const Done& until) noexcept
      : done([](const void* d) { return (*static_cast<const Done*>(d))(); }), what(&until) {}
  template <class Done>
  explicit pending_wait(const Done&&) = delete;

  bool (*done)(const void*);
  const void* what;
  const char* name = "";            // the call that the user made
  detail::scope* scope = nullptr;   // if the wait is for a scope's tasks: that scope
  bool until_scope_empty = false;   // `done` says the same
  bool may_claim_children = false;  // the scope's tasks are listed
  reference awaited;                // the task whose end is waited for, if known
  bool runs_any_task = false;       // any task may run on top, because no code below must continue soon
  bool is_stack_bottom = false;     // of a fresh stack, which ends when another wait may continue
  bool helping = false;             // also continues when there is nothing to run
  bool unrefusable = false;         // cannot be refused: what completes the wait lives on this stack
  bool refused = false;             // no stack was left: the wait ends with the error `refusal`
  std::string refusal;
  std::size_t adopted_from = 0;         // the number of entries of worker::adopted_ at the start of the wait
  suspended_wait* resumable = nullptr;  // a suspended wait that was found to be able to continue

  bool is_done() const { return until_scope_empty ? scope->unfinished() == 0 : done(what); }
};

/// A wait whose stack was left.
struct suspended_wait : suspended_stack {
  pending_wait* wait;
};

}  // namespace kith::native
