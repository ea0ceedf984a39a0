#include "openmp/wait.hpp"

#include "base/clock.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/seat_log.hpp"
#include "openmp/context.hpp"
#include "openmp/fatal.hpp"
#include "openmp/team.hpp"

#include <cstdint>
#include <exception>
#include <utility>

namespace kith::openmp {

namespace {

/// Calls wait(worker), and ends the program if that throws: no stack is left, or a task has thrown.
template <class Wait>
void wait_on_worker(const Wait& wait) noexcept {
  const keeps_context mine;
  try {
    wait(*native::worker::current());
  } catch (...) {
    die(std::current_exception());
  }
}

/// The same at a task scheduling point that is no barrier.
template <class Wait>
void wait_with_tasks_below(const Wait& wait) noexcept {
  wait_on_worker([&](native::worker& w) {
    const auto only_below = w.stay_on_stack();
    wait(w);
  });
}

/// Calls wait(), which is for what is no task: recordings leave this time out of the running task's.
template <class Wait>
void record_wait(const Wait& wait) noexcept {
  const native::worker* const w = native::worker::current();
  const bool recorded = w != nullptr && w->log != nullptr;
  const std::uint64_t began = recorded ? ticks() : 0;
  wait();
  if (recorded) w->log->waited(w->running_ref(), 0, began);
}

bool has_unfinished_children() noexcept {
  const native::worker& w = *native::worker::current();
  return w.children_scope != nullptr && w.children_scope->unfinished() != 0;
}

}  // namespace

detail::draft begin_task(const detail::task_room& room) {
  const keeps_context mine;
  const auto only_below = native::worker::current()->stay_on_stack();
  return detail::begin(detail::running_task{}, room);
}

task_ref submit_task(const detail::draft& d, detail::task_code code, const detail::declared& what) {
  const keeps_context mine;
  const auto only_below = native::worker::current()->stay_on_stack();
  return detail::submit(d, code, what);
}

void wait_for_children() {
  team& in = *here().team;
  if (!in.has_workers()) return in.await_events();  // their bodies have run at once
  if (has_unfinished_children()) wait_with_tasks_below([](native::worker& w) { w.wait_for_children(); });
}

void wait_for_children_at_barrier() {
  team& in = *here().team;
  if (!in.has_workers()) return in.await_events();
  if (has_unfinished_children()) wait_on_worker([](native::worker& w) { w.wait_for_children(); });
}

void wait_among_children(bool (*done)(const void*), const void* what) {
  record_wait([&] {
    wait_with_tasks_below([&](native::worker& w) {
      w.work_in_until(w.children(), [&] { return done(what); }, "a wait of an OpenMP construct");
    });
  });
}

void block_until(team& in, bool (*done)(const void*), const void* what) {
  record_wait([&] { in.blocked.wait_until([&] { return done(what); }); });
}

runs_as_child::runs_as_child() noexcept : on_(*native::worker::current()), outer_(on_.enter_child()) {}

runs_as_child::~runs_as_child() {
  const keeps_context mine;
  on_.leave_child(outer_);
}

void wait_until_all_ended(bool (*done)(const void*), const void* what) {
  record_wait([&] { wait_on_worker([&](native::worker& w) { w.serve_until([&] { return done(what); }); }); });
}

void wake_waiting(team& t) noexcept {
  if (t.engine != nullptr && t.engine->parked.anybody()) t.engine->parked.wake_all();
}

}  // namespace kith::openmp
