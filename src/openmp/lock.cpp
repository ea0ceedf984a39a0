#include "openmp/lock.hpp"

#include "openmp/context.hpp"

namespace kith::openmp {

void take_lock(spin_mutex& lock) {
  lock.lock();
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
