// Joins (include/kith/fork_join.hpp): which halves a worker offers, how others take them, how it waits for these.
//
// Each stack on which a join runs has a lane, because entries of a lane are popped in the opposite order of their
// pushes, and the stacks of a worker do not end in any such order. Any worker may take any half that is public, from
// its own lanes too. A stack that waits for a half must continue as soon as it can, and what it does next may be what
// another half waits for. So a worker that waits runs a taken half on another stack, as it does with tasks (wait.cpp).
// Invariants:
//  F1  A worker asks all lanes for halves before it sleeps. A worker that makes halves public then wakes one that
//      sleeps, by the protocol of docs/sleep.md; a worker that has taken a half wakes the next one, or asks for more
//      halves.
//  F2  Only the stack that a lane belongs to pushes and pops. this_lane is the lane of the running stack of the
//      thread's worker, or no_lane.
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/inherited.hpp"
#include "engine/native/lane.hpp"
#include "engine/native/worker.hpp"
#include "events/log.hpp"

#include <kith/task.hpp>

#include <new>
#include <utility>

namespace kith::detail {

constinit fork_lane no_lane(nullptr, 0, 0);
thread_local constinit fork_lane* this_lane [[gnu::tls_model("initial-exec")]] = &no_lane;

using namespace kith::native;

join_by offer(half& h) noexcept {
  worker* const w = worker::current();
  if (w == nullptr) return join_by::calls;
  if (w->captures()) return join_by::calls;
  if (w->needs_tasks()) return join_by::tasks;
  return w->offer(h) ? join_by::lane : join_by::calls;
}

bool await_half(fork_lane& from, half& h, split_deque<half>::slot_pointer at) noexcept {
  if (from.halves.take_back(at, withdraw)) return true;
  if (worker::current() == nullptr) end_forked_process();  // in a child of fork(): the half runs in the parent
  worker& w = *worker::current();
  w.wait_for(h);
  from.halves.settle(at);
  if (std::exception_ptr late = h.take_late()) w.children().fail(std::move(late));
  return false;
}

void join_as_tasks(half& first, half& second) {
  bool ran = false;
  std::exception_ptr late;
  {
    group_of_parts together;
    const auto run_second = [&] {
      ran = true;
      second.run();
    };
    together.spawn(run_second, name(log_join_type));
    first.run();
    try {
      together.wait();
    } catch (...) {
      late = std::current_exception();
    }
  }
  if (!ran) second.run();  // the task was cancelled before it started
  if (late) worker::current()->children().fail(std::move(late));
}

}  // namespace kith::detail

namespace kith::native {

bool lane_pool::ensure_spare(worker_id owner, std::size_t workers, atomic<bool>& forking) noexcept {
  if (!spare_.empty()) return true;
  try {
    lane& made =
        all_.emplace_back(owner, workers, lane::halves_places(new std::atomic<detail::half*>[lane::most_halves]));
    spare_.reserve(all_.size());
    made.next_of_worker = newest_.load(relaxed);
    newest_.store(&made, release);  // pairs with newest()
    if (workers > 1) forking.store(true, relaxed);
    spare_.push_back(&made);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

bool worker::offer(detail::half& h) noexcept {
  if (!open_lane()) return false;
  if (lane_->halves.push(lane_->halves.top(), h)) return true;  // the lane is new, and there are no thieves
  if (!lane_->halves.push_public(h, wanted_halves(), [this](detail::half& offered, auto at) { prepare(offered, at); }))
    return false;
  wake_for_halves();
  return true;
}

/// Whether open_lane() will succeed. Makes a spare lane if there is none.
bool worker::ensure_spare_lane() noexcept { return lanes_.ensure_spare(id, engine.workers.size(), engine.forking); }

/// Gives the running stack a lane, if it has none. False if there is no memory for one.
bool worker::open_lane() noexcept {
  if (lane_ != nullptr) return true;
  if (!ensure_spare_lane()) return false;
  set_lane(lanes_.take());
  return true;
}

detail::fork_lane* worker::this_lane() const noexcept { return lane_ != nullptr ? lane_ : &detail::no_lane; }

void worker::set_lane(lane* l) noexcept {
  lane_ = l;
  detail::this_lane = this_lane();
}

lane* worker::swap_lane(lane* other) noexcept {
  lane* const before = lane_;
  set_lane(other);
  return before;
}

void worker::close_lane() noexcept {
  if (lane_ != nullptr) lanes_.give_back(lane_);
  set_lane(nullptr);
}

/// The task whose half is at `at`.
task* worker::joins_at(const lane& l, detail::split_deque<detail::half>::slot_pointer at) const noexcept {
  task* joins = running;
  for (const task_boundary* b = l.boundaries; b != nullptr && at < b->from; b = b->next) joins = b->joins;
  return joins;
}

std::uint32_t worker::wanted_halves() const noexcept {
  return static_cast<std::uint32_t>(std::max(0, engine.looking.load(relaxed))) + engine.parked.wakeable();
}

void worker::wake_for_halves() noexcept {
  if (engine.parked.wake_one(engine.workers_where.everybody())) sums.add(event::wake);
}

/// Takes a half of another worker, or of a stack that this worker has left, into half_; or a helper's part in the run
/// of a graph (array_run.hpp). Looks at one worker; with `everywhere`, at all. Asks lanes without public halves to
/// publish some.
bool worker::take_half(const pending_wait& w, bool everywhere) noexcept {
  if (!engine.forking.load(relaxed) && !engine.graph_runs.any()) return false;
  if (!w.runs_any_task && !may_leave_stack(w)) return false;  // it could not be run
  if (engine.graph_runs.any() && take_run(everywhere)) return true;
  if (!ensure_spare_lane()) return false;  // it may need one
  const std::size_t workers = engine.workers.size();
  for (std::size_t left = everywhere ? workers : 1; left > 0; --left) {
    if (++last_victim_ >= workers) last_victim_ = 0;
    for (lane* l = engine.workers[last_victim_].lanes_.newest(); l != nullptr; l = l->next_of_worker) {
      const auto stolen = l->halves.steal();
      if (stolen.entry == nullptr) continue;
      half_ = {stolen.entry, l->owner};
      if (stolen.more) wake_for_halves();  // F1
      return true;
    }
  }
  return false;
}

/// Runs the half that was taken: here if the wait allows it, else on another stack.
void worker::run_taken_half(pending_wait& w) {
  if (!w.runs_any_task && go_elsewhere(w, nullptr)) return;
  if (half_.it != nullptr) run_half();  // no stack was left
}

/// Runs half_ as a part of the task that joins.
void worker::run_half() {
  const taken_half taken = std::exchange(half_, {});
  detail::half& h = *taken.it;
  if (h.runs(&detail::coroutine_continuation::never_run))
    return run_continuation(static_cast<detail::coroutine_continuation&>(h));
  {
    const runs_as as_part(*this, h.joins);
    sums.add(event::half_taken);
    h.run();
    if (children_scope != nullptr) {
      if (h.has_failed()) children_scope->cancel();
      if (std::exception_ptr failure = end_children()) h.fail_late(std::move(failure));
    }
  }
  h.announce();
  if (engine.parked.wake(taken.owner)) sums.add(event::wake);
}

void worker::wait_for(const detail::half& h) {
  constexpr int before_other_work = 64;
  for (int spins = 0; spins < before_other_work && !h.is_done(); ++spins) pause();
  if (h.is_done()) return;
  tell_waiting();
  const auto is_done = [&h] { return h.is_done(); };
  pending_wait w(is_done);
  w.name = "kith::join()";
  w.unrefusable = true;
  work_until(w, nullptr);
}

}  // namespace kith::native
