// The world, the template parameter of queues and policies: real threads (queue/native/world.hpp), or one caller
// at a time, for the simulator and for tests (queue/sequential/world.hpp).
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "base/worker_set.hpp"
#include "events/event.hpp"
#include "queue/dead_entries.hpp"
#include "queue/job.hpp"
#include "queue/poll_result.hpp"
#include "queue/theft_size.hpp"
#include "task/task.hpp"

#include <concepts>
#include <cstdint>

namespace kith {

/// A worker as queues and policies see it: its ids, the meter (counts queue operations, which cost time in
/// simulations), now() (a time for statistics; 0 in tests), ring() (called after a push), and submit() for long work.
/// `dead` counts the entries of claimed tasks, and `sums` other events.
template <class Worker>
concept policy_worker = requires(Worker& w, const Worker& c, task& t, const worker_set& audience, job<Worker>& work) {
  { c.id } -> std::convertible_to<worker_id>;
  { c.node } -> std::convertible_to<node_id>;
  { c.thefts } -> std::convertible_to<theft_size>;
  w.meter(event::push, worker_id(), std::uint64_t{1});
  { c.now() } -> std::convertible_to<std::uint64_t>;
  w.at(static_cast<const void*>(nullptr));
  { w.ring(audience) } -> std::same_as<bool>;
  { c.anybody_sleeps() } -> std::same_as<bool>;
  w.submit(work, audience);
  { w.drop_if_dead(t) } -> std::same_as<bool>;
  { w.dead } -> std::same_as<dead_entries&>;
  { w.sums } -> std::same_as<event_sums&>;
};

/// A value that several workers read and write: an atomic on real threads, a plain value without threads.
template <class V>
concept shared_value = requires(V& v, const V& c, std::uint64_t& expected, std::memory_order o) {
  { c.load(o) } -> std::same_as<std::uint64_t>;
  v.store(1, o);
  { v.exchange(1, o) } -> std::same_as<std::uint64_t>;
  { v.fetch_add(1, o) } -> std::same_as<std::uint64_t>;
  { v.fetch_sub(1, o) } -> std::same_as<std::uint64_t>;
  { v.compare_exchange_strong(expected, 1, o) } -> std::same_as<bool>;
  { v.compare_exchange_weak(expected, 1, o) } -> std::same_as<bool>;
};

/// Its owner pushes and pops at one end, thieves steal at the other.
template <class D>
concept task_deque = requires(D& d, const D& c, task& pushed, task*& stolen, bool (*wanted)(const task&)) {
  d.push(&pushed);
  { c.has_room() } -> std::same_as<bool>;
  d.make_room();
  d.push_in_room(&pushed);
  { d.pop() } -> std::same_as<task*>;
  { d.steal(stolen) } -> std::same_as<steal_result>;
  { d.steal(stolen, wanted) } -> std::same_as<steal_result>;
  { c.size() } -> std::same_as<std::int64_t>;
  { c.bottom() } -> std::same_as<std::int64_t>;
} && std::constructible_from<D, typename D::allocator_type>;

template <class W>
concept world = policy_worker<typename W::worker> && requires(typename W::mutex& m) {
  m.lock();
  m.unlock();
} && shared_value<typename W::template shared<std::uint64_t>> && task_deque<typename W::template deque<task>>;

}  // namespace kith
