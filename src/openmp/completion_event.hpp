// The events of detached tasks (omp_event_handle_t): such a task completes when its body has ended and its event is
// fulfilled, whichever comes last.
#pragma once

#include "base/atomic.hpp"

#include <cstdint>

namespace kith {
class task;
}

namespace kith::openmp {

class team;

/// It frees itself when both have happened.
class completion_event {
 public:
  /// Called once, by any thread.
  void fulfil() noexcept;
  /// Called when the body of the task has ended, on its thread. Unless the event is fulfilled, the task has from here
  /// on a child that ends with it, or in a team without workers, the team counts it.
  void body_ended(team& of);

 private:
  enum state : std::uint32_t { pending, fulfilled, left_open };
  atomic<std::uint32_t> state_{pending};
  task* holds_ = nullptr;  // the child
  team* counts_ = nullptr;
};

}  // namespace kith::openmp
