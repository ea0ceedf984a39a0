// A gate: the engine calls it in place of its policy while a recorded schedule is imposed on a run.
//
// The gate gives out tasks itself, or passes them, in an order of its own, to a policy that decides where they run.
// With a gate, tasks have identities (task/identities.hpp), and no task is taken past its queue or run at its creation
// unless the gate decides so. The engine does not make commutative accesses exclude each other; the gate must.
#pragma once

#include "base/identity.hpp"
#include "policy/contract/policy.hpp"

#include <concepts>
#include <string>

namespace kith {

/// What a gate asks of a worker besides what policies ask: innermost() (who runs on it), refuse() (a task that cannot
/// run in its turn), and all_sleep() (see gate::stalled()).
template <class Worker>
concept gate_worker = policy_worker<Worker> && requires(Worker& w, const Worker& c, task& t, const std::string& why) {
  { c.innermost() } -> std::same_as<const identity::naming_state&>;
  w.refuse(t, why);
  { c.all_sleep() } -> std::same_as<bool>;
};

template <class World>
class gate : public policy<World> {
 public:
  using worker = typename World::worker;

  /// The task's body and all its children have ended; `self` ended the last of them.
  virtual void ended(task& t, worker& self) = 0;
  /// Called when all workers are about to sleep and tasks are unfinished. True if the gate held ready tasks back and
  /// has acted: it has let one of them go on, or has refused one (worker.refuse), after which it gives out all of them.
  /// A worker woken from elsewhere may look and push meanwhile. So the gate must look first and call `self.all_sleep()`
  /// afterwards: only if that returns true did all workers sleep while the gate looked.
  virtual bool stalled(worker& self) = 0;
  /// Called after the last run. The error that was not reported yet; empty if there is none.
  virtual std::string final_error() const = 0;
};

}  // namespace kith
