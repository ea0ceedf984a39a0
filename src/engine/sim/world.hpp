// What policies see of a simulated run: workers of the plain world whose meters charge time.
#pragma once

#include "engine/life/search_order.hpp"
#include "engine/sim/memory.hpp"
#include "engine/sim/program.hpp"
#include "queue/plain/world.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <vector>

namespace kith::sim {

class engine;

/// An access as policies see it: a region's index is its place in the program, and one.
inline kept_access kept_of(const recorded_access& a) noexcept {
  return {a.region + 1, static_cast<std::uint32_t>(a.bytes), static_cast<std::uint16_t>(a.bytes >> 32),
          static_cast<mode>(a.mode), 0};
}

/// A task as policies see it; it knows its place in the program, where the native engine keeps links.
class alignas(64) policy_task : public task {
 public:
  std::int32_t number() const noexcept { return static_cast<std::int32_t>(overflow); }
  void set_number(std::int32_t n) noexcept { overflow = static_cast<slot_index>(n); }
};
static_assert(sizeof(policy_task) == sizeof(task));
inline policy_task& visible(task& t) noexcept { return static_cast<policy_task&>(t); }

enum class frame_state : std::uint8_t {
  running,    // the task's code
  fetching,   // its data, in the fidelity block, and computing meanwhile
  exploring,  // the first phase of a keyed node
  waiting,    // for a scope, at a wait
  helping,    // at the throttle
};

/// How far the data of a worker's task has come, in the fidelity block. All that the next chunk needs is here: program and
/// task records would be cache lines of their own.
struct data_walk {
  std::uint32_t access = 0, end_access = 0;  // in the program
  std::uint32_t chunk = 0;                   // the next one
  bool writes = false;
  std::uint64_t left = 0;               // bytes of the access
  std::uint64_t bytes = 0, done = 0;    // of the task
  picoseconds work = 0, work_done = 0;  // what is computed meanwhile; what of it with the bytes that are done
  program::shown exposure;
};

/// A task on a worker's stack.
struct frame {
  std::int32_t task = -1;
  frame_state now = frame_state::running;
  bool at_creation = false;               // run inside its creation: what it makes ready to be run next is queued
  bool time_paid = false;                 // the time of the present action was spent, its effect comes now
  std::uint32_t scope = 0;                // waited for, or helped in
  std::uint32_t created_in = 0xffffffff;  // the last scope it created a task in
  std::uint32_t first_scope = 0;          // 1 + the last one that it was the first to create in; a list
  bool helps_as_member = false;           // ... before it makes a task in a group that it belongs to
  int looks = 0;                          // in vain, while it helps
  bool waiting_announced = false;         // ... and the policy knows it
  std::uint64_t action = 0;               // the next one
  bool fetched = false;                   // all of it
  std::uint64_t factor = 1024;            // on its time, in 1/1024
  picoseconds began = 0, wait_began = 0;
  std::size_t adopted_from = 0;   // of a wait: entries of worker::adopted that are older
  identity::creator naming = {};  // kept if there is a gate
};

/// What stands on one stack, the outermost first. One that was left has a wait at its end.
using frame_stack = std::vector<frame>;

class worker final : public plain::worker_view {
 public:
  worker(sim::engine& owner, worker_id self, node_id at) : plain::worker_view(self, at), engine(owner) {}

  bool ring(const worker_set& audience) override;
  bool anybody_sleeps() const noexcept override;
  void refuse(task& t, const std::string& why) override;
  void submit(kith::job<plain::worker_view>& j, const worker_set& audience) override;
  bool drop_if_dead(task& t) override;
  const identity::creator& innermost() const noexcept override {
    return frames.empty() ? worker_view::innermost() : frames.back().naming;
  }

  sim::engine& engine;
  place where;
  picoseconds clock = 0;
  frame_stack frames;                  // of the stack that runs
  std::vector<frame_stack> suspended;  // stacks that were left, oldest first
  life::suspended_turn suspended_turn;
  std::vector<std::int32_t> adopted;   // children that tasks left behind when their bodies ended, newest last
  std::size_t fresh_adopted_from = 0;  // entries that are older than the stack that runs
  std::int32_t next = -1;              // to be run as soon as it may
  std::vector<std::int32_t> unqueued;  // given back, and not queued by the policy: to be run before it is asked
  std::int32_t claimed = -1;           // taken past its queue
  kith::job<plain::worker_view>* doing_job = nullptr;  // its time was spent, its effect comes now
  job_size of_job;
  data_walk data;  // of the task that runs
  picoseconds job_began = 0;
  bool parked = false;
  bool ready_to_look = false;  // the time of a look was spent
  int empties = 0, fails = 0;
  std::uint64_t unthrottled = 0;  // as the native worker's
  picoseconds parked_at = 0;
  picoseconds useful = 0, overhead = 0, stall = 0;
  std::uint64_t speed = 1024;  // a core's time, in 1/1024 of that of speed 1
  std::uint64_t steals_seen = 0;
  bool worked = false;  // in this run of the program

  using plain::worker_view::here;

 protected:
  void charge(event e, worker_id owner) override;
};

}  // namespace kith::sim
