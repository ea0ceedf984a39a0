// A worker as queues and policies see it. It counts nothing, because counters are steps that no other thread sees.
#pragma once

#include "base/sleepers.hpp"
#include "events/event.hpp"
#include "queue/dead_entries.hpp"
#include "queue/theft_size.hpp"
#include "task/task.hpp"

namespace kith::interleave {

struct quiet_worker {
  const worker_id id;
  const node_id node;
  sleepers& parked;
  theft_size thefts{};
  void at(const void*) noexcept {}
  void meter(kith::event, worker_id) {}
  bool ring(const worker_set& audience) { return parked.wake_one(audience); }
  bool anybody_sleeps() const { return parked.anybody(); }
  bool drop_if_dead(task&) { return false; }
  dead_entries dead{};
};

}  // namespace kith::interleave
