#include "gomp/wait.hpp"

#include "base/clock.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "gomp/context.hpp"
#include "gomp/fatal.hpp"
#include "gomp/team.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

namespace kith::gomp {

namespace {

/// Calls wait(worker), and ends the program if that throws: no stack is left, or a task has thrown.
template <class Wait>
void wait_on_worker(const Wait& wait) noexcept {
  native::worker& w = *native::worker::current();
  const keeps_context mine;
  std::optional<native::worker::holds_lock> holds;
  if (here().locks > 0) holds.emplace(w);
  try {
    wait(w);
  } catch (...) {
    die(std::current_exception());
  }
}

/// The same, for what is no task: recordings leave this time out of the running task's.
template <class Wait>
void wait_for_others(const Wait& wait) noexcept {
  const native::worker& w = *native::worker::current();
  const std::uint64_t began = w.log != nullptr ? ticks() : 0;
  wait_on_worker(wait);
  if (w.log != nullptr) w.log->waited(w.running_ref(), 0, began);
}

}  // namespace

void wait_for_children() {
  team& in = *here().team;
  if (!in.has_workers()) return in.await_events();  // their bodies have run at once
  const native::worker& w = *native::worker::current();
  if (w.children_scope == nullptr || w.children_scope->unfinished() == 0) return;
  wait_on_worker([](native::worker& mine) { mine.wait_for_children(); });
}

void run_as_child(void (*f)(void*), void* with) {
  const keeps_context mine;
  native::worker::current()->run_as_child(with, f);
}

void wait_until(bool (*done)(const void*), const void* what, task_ref awaited) {
  wait_for_others([&](native::worker& w) {
    w.work_until([&] { return done(what); }, "a wait of an OpenMP construct", reference::from(awaited),
                 detail::at_stack_limit::exceed);
  });
}

void wait_until_all_ended(bool (*done)(const void*), const void* what) {
  wait_for_others([&](native::worker& w) { w.serve_until([&] { return done(what); }); });
}

void wake_waiting(team& t) noexcept {
  if (t.engine != nullptr && t.engine->parked.anybody()) t.engine->parked.wake_all();
}

}  // namespace kith::gomp
