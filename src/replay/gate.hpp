// A gate, which an engine asks in place of its policy where a recorded schedule is imposed on a run.
//
// A gate is the policy that the engine calls. It gives tasks out itself, or passes them, in an order of its
// own, to a policy behind it. With a gate, tasks have identities (task/identities.hpp), and no task is taken
// past its queue or run at its creation unless the gate decides so. The engine does not make commutative
// accesses exclude each other; the gate must.
#pragma once

#include "policy/contract/policy.hpp"

#include <string>

namespace kith {

template <class World>
class gate : public policy<World> {
 public:
  using worker = typename World::worker;

  /// The task's body and all its children have ended; `self` ended the last of them.
  virtual void ended(task& t, worker& self) = 0;
  /// Called when all workers are about to sleep and tasks are unfinished. True if the gate held ready tasks back
  /// and has acted: it lets one of them go on, or refuses one (worker.refuse) and gives out all of them from now
  /// on. A worker woken from elsewhere may look and push meanwhile. So the gate must look first and call
  /// `self.all_sleep()` afterwards: only if that returns true was what it saw there while all workers slept.
  virtual bool stalled(worker& self) = 0;
  /// Called after the last run. What went wrong and was not reported; empty if nothing did.
  virtual std::string final_error() const = 0;
};

}  // namespace kith
