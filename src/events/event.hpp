// The event vocabulary: everything a runtime reports about a run, native or simulated.
//
// Statistics are sums of these events; a recording is their sequence. An event has an amount, which is 1 unless
// the table says otherwise. Values are never reused; new events are appended.
#pragma once

#include "base/atomic.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kith {

enum class event : std::uint8_t {
  task_created,       // by its creator
  task_inlined,       // run by its creator at creation, never queued
  task_executed,      // its body ran to the end (or to an exception)
  task_cancelled,     // its body was skipped
  push,               // a ready task was queued
  pop,                // a worker took a task from a queue that it owns or shares
  steal_attempt,      // a worker looked at a queue of others
  steal,              // ... and got work; each task of a batch counts, but a group (nabbit, nabbitc) counts once
  first_steal,        // a worker got its first work of a run by stealing; amount: ticks since the run began
  claimed,            // a waiting worker ran its own child past the queue
  park,               // a worker went to sleep
  wake,               // a worker woke another
  busy,               // a worker ran tasks, or the scheduler; amount: ticks; for the rest of a run it is idle
  throttled,          // a creator was at the throttle
  throttle_exceeded,  // ... and found nothing to run
  local_access,       // how accesses are counted: docs/glossary.md, remote access
  remote_access,
  region_placed,       // a region got its home
  node_explored,       // a keyed node has named its predecessors
  colored_attempt,     // a steal attempt that takes only the thief's color; counted as steal_attempt as well
  colored_steal,       // ... and got work of that color
  first_steals,        // runs in which a worker got its first work by stealing
  migrated,            // pages went to the node that uses them; amount: bytes of their regions
  window_partitioned,  // a window of tasks was partitioned
  task_partitioned,    // a task was placed at the node of its part
  job,                 // a worker did long work of the policy; amount: ticks
  home_asked,          // the system was asked for the node of a region that got its home by first touch
  home_elsewhere,      // ... and the region was on another node
  stalled,             // a task began a wait whose target had not ended
  steal_time,          // a worker attempted to steal; amount: ticks
  arrival_attempt,     // a worker looked for a task from outside, in the buffer for these
  arrival_time,        // ... amount: ticks
  deque_sampled,       // the length of a worker's own deque was taken
  deque_length,        // ... amount: the tasks in it
  deque_peak,          // ... the largest so far: raised, not summed
  half_taken,          // a worker took a half of a join and ran it, or took part in the run of a graph
};
inline constexpr std::size_t events = 36;

/// Sums at one moment.
class event_snapshot {
 public:
  std::uint64_t operator[](event e) const noexcept { return sums[static_cast<std::size_t>(e)]; }
  std::array<std::uint64_t, events> sums{};
};

/// One worker's events, summed. Only that worker writes it; any thread may read it.
class event_sums {
 public:
  [[gnu::always_inline]] void add(event e, std::uint64_t amount = 1) noexcept {
    atomic<std::uint64_t>& sum = sums_[static_cast<std::size_t>(e)];
    sum.store(sum.load(relaxed) + amount, relaxed);
  }
  /// For events of which the largest amount is kept instead of the sum.
  void raise(event e, std::uint64_t amount) noexcept {
    atomic<std::uint64_t>& most = sums_[static_cast<std::size_t>(e)];
    if (most.load(relaxed) < amount) most.store(amount, relaxed);
  }
  /// Sets such an event to 0. REQUIRES: its worker runs no task.
  void restart(event e) noexcept { sums_[static_cast<std::size_t>(e)].store(0, relaxed); }
  std::uint64_t operator[](event e) const noexcept { return sums_[static_cast<std::size_t>(e)].load(relaxed); }
  event_snapshot snapshot() const noexcept {
    event_snapshot now;
    for (std::size_t i = 0; i < events; ++i) now.sums[i] = sums_[i].load(relaxed);
    return now;
  }

 private:
  std::array<atomic<std::uint64_t>, events> sums_{};
};

}  // namespace kith
