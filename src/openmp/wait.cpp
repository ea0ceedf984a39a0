#include "openmp/wait.hpp"

#include "base/clock.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/recorder.hpp"
#include "openmp/context.hpp"
#include "openmp/fatal.hpp"
#include "openmp/team.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

namespace kith::openmp {

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

detail::draft begin_task(const detail::task_room& room) {
  const keeps_context mine;
  return detail::begin(detail::running_task{}, room);
}

task_ref submit_task(const detail::draft& d, detail::task_code code, const detail::declared& what) {
  const keeps_context mine;
  return detail::submit(d, code, what);
}

void wait_for_children() {
  team& in = *here().team;
  if (!in.has_workers()) return in.await_events();  // their bodies have run at once
  const native::worker& w = *native::worker::current();
  if (w.children_scope == nullptr || w.children_scope->unfinished() == 0) return;
  wait_on_worker([](native::worker& mine) { mine.wait_for_children(); });
}

runs_as_child::runs_as_child() noexcept : on_(*native::worker::current()), outer_(on_.enter_child()) {}

runs_as_child::~runs_as_child() {
  const keeps_context mine;
  on_.leave_child(outer_);
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

}  // namespace kith::openmp
