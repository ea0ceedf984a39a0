#include "base/fork.hpp"

#include "base/invariant.hpp"

#include <pthread.h>

#include <array>
#include <cstddef>

namespace kith {

namespace {

struct kept {
  std::mutex* lock;
  void (*in_child)() noexcept;
};

/// Never destroyed, because threads may fork while the process ends.
struct registry {
  std::mutex guard;
  std::array<kept, 8> all{};
  std::size_t count = 0;
};
registry& kept_locks() {
  static registry& r = *new registry;
  return r;
}

void before_fork() noexcept {
  registry& r = kept_locks();
  r.guard.lock();
  for (std::size_t i = 0; i < r.count; ++i) r.all[i].lock->lock();
}
void unlock_all() noexcept {
  registry& r = kept_locks();
  for (std::size_t i = r.count; i-- > 0;) r.all[i].lock->unlock();
  r.guard.unlock();
}
void in_child() noexcept {
  registry& r = kept_locks();
  for (std::size_t i = 0; i < r.count; ++i) {
    if (r.all[i].in_child != nullptr) r.all[i].in_child();
  }
  unlock_all();
}

}  // namespace

void keep_over_fork(std::mutex& lock, void (*child)() noexcept) {
  static const bool watched = pthread_atfork(before_fork, unlock_all, in_child) == 0;
  static_cast<void>(watched);
  registry& r = kept_locks();
  std::lock_guard held(r.guard);
  KITH_INVARIANT(r.count < r.all.size(), "there is room for all locks that are kept over fork");
  r.all[r.count++] = {&lock, child};
}

}  // namespace kith
