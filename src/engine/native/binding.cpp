#include "engine/native/binding.hpp"

#include <kith/unbound.hpp>

#include <cstddef>
#include <utility>

namespace kith::native {

namespace {

struct of_thread {
  binding* innermost = nullptr;
  int suspended = 0;  // how often, since the innermost began
};
thread_local constinit of_thread mask_of_thread;

}  // namespace

binding::binding(std::span<const int> cpus) noexcept {
  if (cpus.empty() || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  CPU_ZERO(&own_);
  for (int c : cpus) {
    if (c >= 0 && c < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(c), &own_);
  }
  bound_ = CPU_COUNT(&own_) != 0 && sched_setaffinity(0, sizeof own_, &own_) == 0;
  if (!bound_) return;
  outer_ = std::exchange(mask_of_thread.innermost, this);
  suspended_ = std::exchange(mask_of_thread.suspended, 0);
}

binding::~binding() {
  if (!bound_ || mask_of_thread.innermost != this) return;  // a child of fork() has forgotten it
  sched_setaffinity(0, sizeof before_, &before_);
  mask_of_thread.innermost = outer_;
  mask_of_thread.suspended = suspended_;
}

const binding& binding::outermost() const noexcept {
  const binding* b = this;
  while (b->outer_ != nullptr) b = b->outer_;
  return *b;
}

bool binding::suspend() noexcept {
  if (mask_of_thread.innermost == nullptr) return false;
  const cpu_set_t& free = mask_of_thread.innermost->outermost().before_;
  if (mask_of_thread.suspended++ == 0) sched_setaffinity(0, sizeof free, &free);
  return true;
}

void binding::resume() noexcept {
  if (mask_of_thread.innermost == nullptr || --mask_of_thread.suspended != 0) return;
  sched_setaffinity(0, sizeof mask_of_thread.innermost->own_, &mask_of_thread.innermost->own_);
}

void binding::forget_in_child() noexcept {
  if (mask_of_thread.innermost == nullptr) return;
  const cpu_set_t& free = mask_of_thread.innermost->outermost().before_;
  sched_setaffinity(0, sizeof free, &free);
  mask_of_thread = {};
}

}  // namespace kith::native

namespace kith {

unbound::unbound() noexcept : counted_(native::binding::suspend()) {}
unbound::~unbound() {
  if (counted_) native::binding::resume();
}

}  // namespace kith
