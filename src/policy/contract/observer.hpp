// Events that a policy may observe: a separate interface, which most policies do not implement.
//
// The engine asks subscribes_to() once, after construction. Of created(), ran() and idle() it makes only the calls that
// are named there; the others cost nothing. The rest, which is rare, is always called.
#pragma once

#include "base/id.hpp"
#include "task/region.hpp"
#include "task/task.hpp"

#include <cstdint>

namespace kith {

template <class World>
class observer {
 public:
  using worker = typename World::worker;

  struct subscriptions {
    bool created = false;
    bool ran = false;
    bool idle = false;
    bool every_ready = true;  // with `created`: ready() is called for every such task, also where it might run at once
  };
  virtual subscriptions subscribes_to() const = 0;

  /// Called when `t` was created and its accesses are known; it is not ready yet. Not called for nodes of graphs and
  /// for tasks from outside.
  virtual void created(task& /*t*/, worker& /*self*/) {}
  /// Called when `self` has run the task's body. The nanoseconds are the world's own time and include waits inside the
  /// body. Called for all tasks in simulated time, natively for one task in 17; not for the exploration of a keyed
  /// node.
  virtual void ran(const task& /*t*/, worker& /*self*/, std::uint64_t /*nanoseconds*/) {}
  /// Called when the worker stops calling next(): it resumes code that waited, or sleeps, or has found a task in
  /// another way after next() gave none. The last task that next() gave it has ended or waits. Must not throw.
  virtual void idle(worker& /*self*/) {}
  /// Called when a run begins. If runs overlap, called only for the first; no task of an earlier run is left. Other
  /// workers may be in next().
  virtual void run_began() {}
  /// Called when the system has said that the pages of `r`, whose home was assumed to be `assumed`, are at `actual`,
  /// which is its home now: the program has filled it before, or a node was full. REQUIRES: data_needs::homes.
  virtual void found_elsewhere(const region& /*r*/, node_id /*assumed*/, node_id /*actual*/) {}

 protected:
  ~observer() = default;
};

}  // namespace kith
