// Creates tasks with results: as children of the running task, or from outside in any runtime.
#include <kith/runtime.hpp>
#include <kith/when_all.hpp>

#include "api/implementation.hpp"
#include "engine/native/create.hpp"
#include "engine/native/inherited.hpp"

#include <mutex>
#include <string>

namespace kith::detail {

namespace {

scope& open_outside(native::engine& e) {
  e.refuse_inherited("runtime::submit()");
  e.start_stand_in();
  std::unique_lock creating(e.outside.creating);
  scope& s = e.outside.open();
  creating.release();  // ~creation() unlocks it
  return s;
}

}  // namespace

creation::creation(std::uint64_t runtime) : runtime_(runtime), outside_(false) {
  const native::worker* const w = native::worker::current();
  if (runtime == 0 || (w != nullptr && w->engine.number == runtime)) {
    scope_ = &current_scope();
    if (scope_->sink != nullptr) scope_->sink->refuse("a task with a future (kith::async, then, when_all)");
    runtime_ = native::engine_of(*scope_).number;
    return;
  }
  native::engine* const e = native::engine_of_number(runtime);
  if (e == nullptr) {
    throw error(
        "future::then(), when_all(): the future's runtime has ended; call it while that runtime lives, or take the "
        "value with get()");
  }
  scope_ = &open_outside(*e);
  outside_ = true;
}

creation::creation(runtime& r) : outside_(true) {
  native::engine& e = runtime::implementation::engine_of(r);
  scope_ = &open_outside(e);
  runtime_ = e.number;
}

creation::~creation() {
  if (!outside_) return;
  native::engine& e = native::engine_of(*scope_);
  e.outside.notify();
  e.outside.creating.unlock();  // last: ~outside_seat() waits for it
}

std::uint64_t common_runtime(std::span<const made_task> tasks) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].runtime == 0) {
      throw error("when_all(): no task behind future " + std::to_string(i + 1) + " of " + std::to_string(tasks.size()) +
                  " (it was moved from, taken, or never set)");
    }
    if (tasks[i].runtime != tasks[0].runtime) {
      throw error(
          "when_all(): futures 1 and " + std::to_string(i + 1) +
          " are of different runtimes; expected one. A task of the one can wait for the other's future with get()");
    }
  }
  return tasks.empty() ? 0 : tasks[0].runtime;
}

const task_type& when_all_type() {
  static const task_type type("when_all");
  return type;
}
[[maybe_unused]] const task_type& when_all_before_main = when_all_type();  // base/fork.hpp says why

}  // namespace kith::detail
