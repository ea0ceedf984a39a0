// The world, the template parameter of queues and policies: real threads (queue/native/world.hpp), or one caller
// at a time, for the simulator and for tests (queue/sequential/world.hpp).
#pragma once

#include "base/id.hpp"
#include "base/worker_set.hpp"
#include "events/event.hpp"
#include "queue/job.hpp"
#include "task/task.hpp"

#include <concepts>
#include <cstdint>

namespace kith {

/// A worker as queues and policies see it: its ids, the meter (counts queue operations, which cost time in
/// simulations), now() (a time for statistics; 0 in tests), ring() (called after a push), and submit() for long work.
template <class Worker>
concept policy_worker = requires(Worker& w, const Worker& c, task& t, const worker_set& audience, job<Worker>& work) {
  { c.id } -> std::convertible_to<worker_id>;
  { c.node } -> std::convertible_to<node_id>;
  { c.short_tasks } -> std::convertible_to<bool>;
  w.meter(event::push, worker_id(), std::uint64_t{1});
  { c.now() } -> std::convertible_to<std::uint64_t>;
  w.at(static_cast<const void*>(nullptr));
  { w.ring(audience) } -> std::same_as<bool>;
  { c.anybody_sleeps() } -> std::same_as<bool>;
  w.submit(work, audience);
  { w.drop_if_dead(t) } -> std::same_as<bool>;
};

template <class W>
concept world = policy_worker<typename W::worker> && requires(typename W::mutex& m) {
  m.lock();
  m.unlock();
  typename W::template shared<std::uint64_t>;  // an atomic on real threads, a plain value without threads
  typename W::template deque<task>;            // its owner pushes and pops at one end, thieves steal at the other
};

}  // namespace kith
