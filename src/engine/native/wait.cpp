// How a worker waits: it runs other tasks, on top of the wait if they cannot delay it, else on another stack.
//
// A task may run on top of a wait only if the wait cannot end before the task does: it is what the wait is for,
// or a descendant of it. All other tasks run on another stack, so that the wait continues as soon as possible,
// whatever they wait for. suspend.cpp has how a stack is left and found again, stack_limit.cpp what happens when there
// is no further stack.
#include "engine/life/claim.hpp"
#include "engine/life/ready_again.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/seat_log.hpp"
#include "engine/native/step.hpp"
#include "engine/native/worker.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <thread>
#include <utility>

namespace kith::native {

void worker::wait_for(detail::scope*& waited, const char* name, task* first) {
  detail::scope& s = *waited;
  ++naming.waits;
  const std::uint64_t began = log != nullptr ? ticks() : 0;
  const auto is_empty = [&s] { return s.unfinished() == 0; };
  pending_wait w(is_empty);
  w.scope = &s;
  w.may_claim_children = s.listed;
  w.until_scope_empty = true;
  w.name = name;
  const auto end = [&] {
    if (log != nullptr) [[unlikely]]
      log->waited(running_ref(), s.serial, began);
    if (s.unfinished() != 0) {  // no stack was left
      waited = nullptr;
      abandon(s);
    } else if (!s.phased) {
      s.emptied();  // a graph's scope may be waited for again, and stays as it is
    }
  };
  bool over = false;
  while (!over) {
    try {
      work_until(w, first);
      over = true;
    } catch (...) {
      // Nodes use what the code that waits for them owns, so that code must wait on. The graph fails.
      if (!s.phased || s.unfinished() == 0) {
        end();
        throw;
      }
      s.fail(std::current_exception());
      first = nullptr;
    }
  }
  end();
}

void worker::work_until(pending_wait& w, task* first) {
  const above_halves tasks_run_on_top(lane_, running);
  const uncounted waits(counts);
  w.adopted_from = adopted_.size();
  if (!w.runs_any_task && !w.is_done()) sums.add(event::stalled);
  const bool has_room = w.runs_any_task || may_nest();
  task* t = first;
  try {
    while (!w.is_done()) {
      // A claimed task cannot be given back, and runs before others are claimed.
      if (w.refused && claimed_ == nullptr && give_up(w)) [[unlikely]]
        break;
      if (!suspended_.empty() && claimed_ == nullptr) [[unlikely]] {
        if (w.resumable == nullptr) w.resumable = ready_to_go_on();
        if (w.resumable != nullptr) {
          requeue(std::exchange(t, nullptr));
          if (w.is_stack_bottom) break;
          go_on_with(w);
          continue;
        }
      }
      if (t == nullptr && has_room && (t = find(w)) == nullptr) {
        t = search_or_park(w);
        if (half_.it != nullptr) [[unlikely]]
          run_taken_half(w);
        continue;
      }
      if (has_room && may_run_here(*t, w)) [[likely]] {
        t = run_measured(*t);
      } else if (go_elsewhere(w, t)) {
        t = nullptr;
      } else if (stays_) {
        requeue(std::exchange(t, nullptr));
        report();
        t = find_past_others(w, has_room);
        if (t == nullptr) std::this_thread::yield();
      } else if (!w.refused && !w.unrefusable) {
        requeue(std::exchange(t, nullptr));  // give_up() claims other tasks
        refuse_stack(w, children_scope);
      } else {  // nothing can run here now: another wait of this worker must end, or other workers make progress
        requeue(std::exchange(t, nullptr));
        report();
        w.resumable = ready_to_go_on(true, true);
        if (w.resumable == nullptr && !refuse_newest_suspended() && (t = find_past_others(w, has_room)) == nullptr)
          std::this_thread::yield();
      }
    }
  } catch (...) {  // of a policy
    engine.policy.idle(*this);
    report();  // as below
    throw;
  }
  requeue(t);
  engine.policy.idle(*this);
  report();  // C1 of scope.hpp: the code that waited continues, and may take long
  if (w.refused) [[unlikely]]
    throw error(w.refusal, error_kind::resources);
}

bool worker::is_below(const task& t, const pending_wait& w) const noexcept {
  const int levels = stays_ ? std::numeric_limits<int>::max() : life::known_levels;
  if (w.scope != nullptr) {
    if (t.scope->is_within(*w.scope, levels)) return true;
  } else if (w.awaited) {
    const bool is_it = engine.space.index_of(t) == w.awaited.index &&
                       edges::generation_of(t.head.load(relaxed)) == w.awaited.generation;
    if (is_it || t.scope->is_below(w.awaited, levels)) return true;
  }
  // The entry of a claimed task is only dropped, so it may run anywhere. Its scope may have been reused.
  return (t.flags & task::claimable) != 0 && &t != claimed_ && life::is_dead(t.state);
}

void worker::requeue(task* t) {
  while (t != nullptr && t == claimed_) t = run(*t);
  if (t != nullptr && (t->flags & task::addressed) != 0) return addressed.push(*t);
  const auto ready = [this](std::span<task* const> tasks, ready_reason why) { return make_ready(tasks, why); };
  if (task* const unqueued = life::give_back(t, ready)) engine.arrive(*unqueued);
}

void worker::queue_begun(task& t) {
  task* const one[] = {&t};
  task* given_back = nullptr;
  try {
    given_back = make_ready(one, ready_reason::arrival);
  } catch (const std::bad_alloc&) {
    return run_at_creation(t);
  }
  requeue(given_back);
}

[[gnu::noinline]] task* worker::run_sampled(task& t) {
  until_measure_ = measure_interval;
  const bool timed = t.exploring == 0 && (engine.policy.observes_time() || at_creation == creation_rule::short_ones);
  const std::uint64_t from = ticks();
  task* next = timed ? run_in_full(t, true) : run(t);
  const std::uint64_t took = std::min<std::uint64_t>(ticks() - from, 1 << 20);
  mean_ticks_ = static_cast<std::uint32_t>((std::uint64_t{mean_ticks_} * 3 + took) / 4);
  thefts = theft_size(mean_ticks_, engine.distance.short_task());
  engine.distance.publish(id);
  // Looks into the inbox although there is other work.
  if (until_inbox_ != 0) --until_inbox_;
  if (until_inbox_ != 0 || next != nullptr) return next;
  until_inbox_ = inbox_interval;
  return drain_inbox();
}

}  // namespace kith::native
