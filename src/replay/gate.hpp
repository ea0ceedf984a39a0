// What an engine asks in front of its policy, where a recorded schedule is imposed on a run.
//
// A gate is the policy that the engine calls: it gives the tasks out itself, or passes them on, in an order of its own, to a
// policy behind it. With a gate tasks have identities (task/identities.hpp); none is taken past its queue, or run at its
// creation, unasked; commutative accesses do not exclude each other: the gate sees to that.
#pragma once

#include "policy/contract/policy.hpp"

#include <string>

namespace kith {

template <class World>
class gate : public policy<World> {
 public:
  using worker = typename World::worker;

  /// The task's body and all its children have ended; `self` has ended the last of them.
  virtual void ended(task& t, worker& self) = 0;
  /// All workers are about to sleep, with tasks unfinished: a gate that holds ready tasks back says whether it does so, and
  /// lets one go on, or refuses one (worker.refuse) and gives out all of them from now on. A worker woken from elsewhere may
  /// look and push meanwhile: only what was seen before `self.all_sleep()` answered true was there while all slept.
  virtual bool stalled(worker& self) = 0;
  /// After the last run: what went wrong that nobody was told of; empty: nothing.
  virtual std::string final_error() const = 0;
};

}  // namespace kith
