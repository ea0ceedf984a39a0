// What a policy may watch beside deciding: a separate interface, which most policies do not implement.
//
// The engine asks subscriptions() once, after construction, and makes only the calls that are named there: what nobody
// watches costs nothing.
#pragma once

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
  };
  virtual subscriptions subscribes_to() const { return {}; }

  /// `t` is known with its accesses; it is not ready yet. Not for nodes of graphs, nor for tasks from outside.
  virtual void created(task& /*t*/, worker& /*self*/) {}
  /// `self` has run the task's body, in so many nanoseconds of the world's own time, waits within it included. In simulated
  /// time for all tasks, natively for one in 16. Not for keyed nodes.
  virtual void ran(const task& /*t*/, worker& /*self*/, std::uint64_t /*nanoseconds*/) {}
  /// The worker stops calling next(): it resumes code that waited, or sleeps. The task that next() gave it last has ended,
  /// or waits.
  virtual void idle(worker& /*self*/) {}
  /// A run begins, the first of those that overlap; nothing of an earlier one is left. Other workers may be in next().
  virtual void run_began() {}

 protected:
  ~observer() = default;
};

}  // namespace kith
