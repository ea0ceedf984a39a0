#include "base/fork.hpp"

#include "base/atomic.hpp"

#include <pthread.h>

#include <cstddef>
#include <vector>

namespace kith {

namespace {

struct kept {
  std::mutex* lock;
  void (*in_child)() noexcept;
};

/// Never destroyed, because threads may fork while the process ends.
struct registry {
  std::mutex guard;
  std::vector<kept> all;
};
registry& kept_locks() {
  static registry& r = *new registry;
  return r;
}

void before_fork() noexcept {
  registry& r = kept_locks();
  r.guard.lock();
  for (const kept& k : r.all) k.lock->lock();
}
void unlock_all() noexcept {
  registry& r = kept_locks();
  for (std::size_t i = r.all.size(); i-- > 0;) r.all[i].lock->unlock();
  r.guard.unlock();
}
atomic<std::uint32_t> forks_so_far{0};

void in_child() noexcept {
  forks_so_far.fetch_add(1, relaxed);
  registry& r = kept_locks();
  for (const kept& k : r.all) {
    if (k.in_child != nullptr) k.in_child();
  }
  unlock_all();
}

}  // namespace

std::uint32_t forks() noexcept { return forks_so_far.load(relaxed); }

void keep_over_fork(std::mutex& lock, void (*child)() noexcept) {
  static const bool watched = pthread_atfork(before_fork, unlock_all, in_child) == 0;
  static_cast<void>(watched);
  registry& r = kept_locks();
  std::lock_guard held(r.guard);
  r.all.push_back({&lock, child});
}

}  // namespace kith
