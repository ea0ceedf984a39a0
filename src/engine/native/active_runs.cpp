#include "engine/native/active_runs.hpp"

#include "engine/native/array_run.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/worker.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>

namespace kith::native {

void active_runs::add(array_run& r) {
  std::lock_guard lock(guard_);
  runs_.push_back(&r);
  count_.store(static_cast<std::uint32_t>(runs_.size()), relaxed);
}

void active_runs::remove(array_run& r) noexcept {
  std::lock_guard lock(guard_);
  std::erase(runs_, &r);
  count_.store(static_cast<std::uint32_t>(runs_.size()), relaxed);
}

array_run* active_runs::enter(const worker& self, bool wait_for_lock) noexcept {
  if (wait_for_lock) {
    guard_.lock();
  } else if (!guard_.try_lock()) {
    return nullptr;
  }
  std::lock_guard locked(guard_, std::adopt_lock);
  for (array_run* r : runs_) {
    if (!r->has_work(self)) continue;
    r->enter();
    return r;
  }
  return nullptr;
}

void run_helper::begin(array_run& in) noexcept {
  in_ = &in;
  prepare(in.runs_in());
}

void run_helper::help(half& h) noexcept {
  run_helper& self = static_cast<run_helper&>(h);
  self.outcome_ = 0;
  self.in_->help(self.worker_);
  self.in_ = nullptr;
}

/// Stores in half_ a helper for another worker's run. False if there is none.
bool worker::take_run(bool wait_for_lock) noexcept {
  try {
    auto free = std::ranges::find_if(helpers_, [](const run_helper& h) { return h.is_free(); });
    if (free == helpers_.end()) free = (helpers_.emplace_back(*this), std::prev(helpers_.end()));
    array_run* const r = engine.graph_runs.enter(*this, wait_for_lock);
    if (r == nullptr) return false;
    free->begin(*r);
    half_ = {&*free, r->owner()};
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace kith::native
