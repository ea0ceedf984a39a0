// A worker on real threads, as queues and policies see it.
#pragma once

#include "base/clock.hpp"
#include "base/id.hpp"
#include "base/identity.hpp"
#include "base/sleepers.hpp"
#include "base/stall_check.hpp"
#include "events/event.hpp"
#include "events/log.hpp"
#include "queue/dead_entries.hpp"
#include "queue/job.hpp"
#include "queue/native/inbox.hpp"
#include "queue/theft_size.hpp"
#include "task/scope.hpp"
#include "task/type_names.hpp"

#include <kith/error.hpp>

#include <string>

namespace kith::native {

/// Queue blocks count their operations here (meter), and wake workers after a push (ring). Only the worker's
/// own thread calls it.
class worker_view {
 public:
  worker_view(worker_id self, node_id at, sleepers& parked) noexcept : id(self), node(at), parked_(parked) {}

  const worker_id id;
  const node_id node;
  /// How many of the tasks run here a thief should take at once (from the engine's running mean).
  theft_size thefts;

  /// The innermost task on this worker, or the root. Kept only if there is a gate.
  const identity::naming_state& innermost() const noexcept { return *naming_of_innermost; }

  /// One operation on a queue owned by `owner` (none: shared).
  [[gnu::always_inline]] void meter(event e, worker_id owner, std::uint64_t amount = 1) noexcept {
    sums.add(e, amount);
    if (e == event::steal && steal_log != nullptr) [[unlikely]]
      steal_log->append({.kind = log_kind::steal, .middle = static_cast<std::uint32_t>(owner.value), .large = ticks()});
  }
  /// The time, in ticks: for policies that report how long their attempts take.
  static std::uint64_t now() noexcept { return ticks(); }
  /// Names the queue of the next operations; only worlds in which these cost time use it.
  void at(const void* /*queue*/) noexcept {}
  /// Called when work that `audience` may take has become visible. Wakes one sleeping worker of `audience`; false if
  /// none sleeps.
  bool ring(const worker_set& audience) noexcept {
    if (!parked_.wake_one(audience)) return false;
    sums.add(event::wake);
    return true;
  }
  /// Whether ring() could wake a worker. Called after the work has become visible.
  bool anybody_sleeps() const noexcept { return parked_.anybody(); }

  /// Makes the task's body not run, and reports the reason to its waiter.
  static void refuse(task& t, const std::string& why) {
    t.flags |= task::skip;
    t.scope->fail(std::make_exception_ptr(error("task '" + task_type_name(t.type) + "' " + why)));
  }

  /// Called in gate::stalled(): whether no worker has left its sleep since stalled() was called.
  bool all_sleep() const noexcept { return together->lasts(all_slept); }

  /// Submits long work; the first worker of `audience` that finds it runs it.
  void submit(job<worker_view>& j, const worker_set& audience) noexcept {
    jobs->push(j);
    ring(audience);
  }

  /// Whether the task, whose queue entry the caller holds, was claimed. If so, the caller must drop the entry.
  bool drop_if_dead(task& t) { return drop_dead_task(*this, t); }

  event_sums sums;
  dead_entries dead;
  bool (*drop_dead_task)(worker_view&, task&) = [](worker_view&, task&) { return false; };  // the engine's
  inbox<job<worker_view>>* jobs = nullptr;                                                  // the engine's
  log* steal_log = nullptr;                                                                 // may be null
  const identity::naming_state* naming_of_innermost = nullptr;                              // the engine's
  const stall_check* together = nullptr;                                                    // the engine's
  stall_check::sleep_epoch all_slept = 0;  // within gate::stalled(): the epoch in which it was called

 private:
  sleepers& parked_;
};

}  // namespace kith::native
