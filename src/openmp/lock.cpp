#include "openmp/lock.hpp"

#include "engine/native/engine.hpp"
#include "openmp/context.hpp"
#include "openmp/fatal.hpp"
#include "openmp/team.hpp"
#include "openmp/wait.hpp"

#include <chrono>
#include <cstdint>
#include <exception>

namespace kith::openmp {

namespace {

using steady = std::chrono::steady_clock;

/// The lock's holder may wait for a task that only this worker can run: a policy that places tasks has queued it here.
/// So after some time the worker runs other tasks, on other stacks, and looks at the lock again from time to time.
void wait_while_working(spin_mutex& lock, native::worker& w) noexcept try {
  constexpr std::int64_t patience = 2'000'000;  // ns
  constexpr std::chrono::milliseconds between_looks(1);
  while (!lock.try_lock_for(patience)) {
    const steady::time_point next_look = steady::now() + between_looks;
    const native::alarm_clock::alarm wakes(w.engine.alarms, next_look, w.id);
    wait_until([&] { return !lock.is_locked() || steady::now() >= next_look; });
  }
} catch (...) {  // no thread for the alarm
  die(std::current_exception());
}

}  // namespace

void take_lock(spin_mutex& lock) {
  if (!lock.try_lock()) {
    const context& c = here();
    if (c.team->has_workers() && c.locks == 0) {
      wait_while_working(lock, *native::worker::current());
    } else {
      lock.lock();
    }
  }
  ++here().locks;
}

bool try_take_lock(spin_mutex& lock) {
  const bool taken = lock.try_lock();
  if (taken) ++here().locks;
  return taken;
}

void give_lock(spin_mutex& lock) noexcept {
  lock.unlock();
  --here().locks;
}

}  // namespace kith::openmp
