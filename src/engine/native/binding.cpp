#include "engine/native/binding.hpp"

#include "memory/numa_calls.hpp"

#include <kith/unbound.hpp>

#include <cstddef>
#include <utility>

namespace kith::native {

namespace {

struct of_thread {
  binding* innermost = nullptr;
  int suspended = 0;  // how often, since the innermost began
  int memory = -1;    // the node that the thread was told to prefer
};
thread_local constinit of_thread bound_thread;

bool move_to(const cpu_set_t& cpus, int memory) noexcept {
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) return false;
  int& now = bound_thread.memory;
  if (memory != now && numa::prefer_in_thread(now, memory)) now = memory;
  return true;
}

}  // namespace

binding::binding(const thread_affinity& to) noexcept : memory_(to.memory) {
  if (to.cpus.empty() || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  CPU_ZERO(&own_);
  for (int c : to.cpus) {
    if (c >= 0 && c < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(c), &own_);
  }
  bound_ = CPU_COUNT(&own_) != 0 && move_to(own_, memory_);
  if (!bound_) return;
  outer_ = std::exchange(bound_thread.innermost, this);
  suspended_ = std::exchange(bound_thread.suspended, 0);
}

binding::~binding() {
  if (!bound_ || bound_thread.innermost != this) return;  // in a child of fork(), the binding was forgotten
  move_to(before_, outer_ != nullptr && suspended_ == 0 ? outer_->memory_ : -1);
  bound_thread.innermost = outer_;
  bound_thread.suspended = suspended_;
}

const binding& binding::outermost() const noexcept {
  const binding* b = this;
  while (b->outer_ != nullptr) b = b->outer_;
  return *b;
}

bool binding::suspend() noexcept {
  if (bound_thread.innermost == nullptr) return false;
  const cpu_set_t& free = bound_thread.innermost->outermost().before_;
  if (bound_thread.suspended++ == 0) move_to(free, -1);
  return true;
}

void binding::resume() noexcept {
  if (bound_thread.innermost == nullptr || --bound_thread.suspended != 0) return;
  move_to(bound_thread.innermost->own_, bound_thread.innermost->memory_);
}

void binding::forget_in_child() noexcept {
  if (bound_thread.innermost == nullptr) return;
  const cpu_set_t& free = bound_thread.innermost->outermost().before_;
  move_to(free, -1);
  bound_thread = {};
}

}  // namespace kith::native

namespace kith {

unbound::unbound() noexcept : counted_(native::binding::suspend()) {}
unbound::~unbound() {
  if (counted_) native::binding::resume();
}

}  // namespace kith
