// A simulated run as policies see it: workers of the sequential world whose meters charge time.
#pragma once

#include "engine/life/policy_calls.hpp"
#include "engine/life/search_order.hpp"
#include "engine/sim/memory.hpp"
#include "engine/sim/program.hpp"
#include "policy/contract/team.hpp"
#include "queue/sequential/world.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace kith::sim {

class engine;

/// A task as policies see it. It keeps its index in the program where the native engine counts predecessors.
class alignas(64) policy_task : public task {
 public:
  std::int32_t number() const noexcept { return static_cast<std::int32_t>(join.load(relaxed)); }
  void set_number(std::int32_t n) noexcept { join.store(static_cast<std::uint32_t>(n), relaxed); }
};
static_assert(sizeof(policy_task) == sizeof(task));
inline policy_task& as_policy_task(task& t) noexcept { return static_cast<policy_task&>(t); }

enum class frame_state : std::uint8_t {
  running,    // runs the task's code
  fetching,   // fetches its data, in fidelity block, and computes meanwhile
  replaying,  // touches its lines, in fidelity line
  exploring,  // runs the first phase of a keyed node
  waiting,    // waits for a scope
  helping,    // helps at the throttle
  offering,   // waits until another place has accepted a task, or has replied
};

/// How far a worker's task has fetched its data, in fidelity block. It has a copy of all that the next chunk needs,
/// because the program and the task's record would be further cache lines.
struct data_walk {
  std::uint32_t access = 0, end_access = 0;  // in the program
  std::uint32_t chunk = 0;                   // the next one
  bool writes = false;
  std::uint64_t left = 0;               // bytes left of the access
  std::uint64_t bytes = 0, done = 0;    // of the task
  picoseconds work = 0, work_done = 0;  // the computing meanwhile, and the part that belongs to the bytes done
  program::exposure_factors exposure;
};

/// How far a worker's task has replayed its lines, in fidelity line.
struct line_walk {
  const line_touches* next = nullptr;
  std::uint32_t taken = 0;            // touches of `next` that were replayed
  const line_touches* end = nullptr;  // of the present piece of computing
  picoseconds each = 0;               // the core's time between two accesses
};

/// A task on a worker's stack.
struct frame {
  /// Sets each member once: without a constructor all bytes would be cleared before.
  frame(std::int32_t of, std::uint64_t first_action, picoseconds now) noexcept
      : task(of), action(first_action), began(now) {}
  std::int32_t task;
  frame_state state = frame_state::running;
  bool at_creation = false;               // runs inside its creation: tasks that it makes ready are queued
  bool time_paid = false;                 // the time of the current action was spent; its effect comes next
  bool fetched = false;                   // all of the task's data was fetched
  std::uint32_t scope = 0;                // the scope that it waits for or helps in
  std::uint32_t created_in = 0xffffffff;  // the last scope it created a task in
  std::uint32_t first_scope = 0;          // 1 + the last scope in which it created the first task; the head of a list
  std::uint64_t action;                   // the next one
  std::uint64_t factor = 1024;            // factor on its time, in 1/1024
  picoseconds began, wait_began = 0;
  bool helps_as_member = false;    // it helps before it creates a task in a group that it belongs to
  bool waiting_announced = false;  // policy::waiting() was called while it helps
  std::int32_t offered = -1;       // the task that it offers
  std::int32_t asked = -1;         // else the request whose reply it waits for
  int failed_searches = 0;         // since it began to help, or since a task was found
  std::size_t adopted_from = 0;    // the number of entries of worker::adopted when its wait began
  // In fidelity line: the next of the task's rows, the recorded computing so far, and how many lines its stack is below
  // that of the worker.
  std::uint64_t row = 0;
  picoseconds computed = 0;
  std::uint32_t stack_base = 0;
  identity::naming_state naming = {};  // used if there is a gate
};

/// A worker's own request to the scheduling unit, if the machine's queues are there.
enum class request_state : std::uint8_t {
  none,
  arrives,  // travels to the unit until the worker's clock
  waits,    // is in the unit
};

/// The frames of one stack, the outermost first. The last frame of a stack that was left is a wait.
using frame_stack = std::vector<frame>;

/// Workers that share a policy: those of one place, or all. The worker with id i is the engine's worker first + i.
struct policy_group {
  policy_group(const machine& hardware, std::span<const core_id> cores, std::vector<node_id> nodes,
               std::uint32_t number, std::uint32_t first_worker)
      : workers(hardware, std::move(nodes), cores), place(number), first(first_worker) {}
  const team workers;
  const std::uint32_t place, first;
  policy_calls<sequential::world> policy;
  worker_set parked;
  worker_set last_round;  // workers that found nothing once, and will park if they find nothing again
  std::deque<kith::job<sequential::worker_view>*> jobs;
};

class worker final : public sequential::worker_view {
 public:
  worker(sim::engine& owner, sim::policy_group& members, worker_id self, node_id at)
      : sequential::worker_view(self, at),
        engine(owner),
        group(members),
        number(members.first + static_cast<std::uint32_t>(self.value)) {}

  bool ring(const worker_set& audience) override;
  bool anybody_sleeps() const noexcept override;
  void refuse(task& t, const std::string& why) override;
  void submit(kith::job<sequential::worker_view>& j, const worker_set& audience) override;
  bool drop_if_dead(task& t) override;
  const identity::naming_state& innermost() const noexcept override {
    return frames.empty() ? worker_view::innermost() : frames.back().naming;
  }

  sim::engine& engine;
  sim::policy_group& group;
  const std::uint32_t number;  // in the engine

  // What a step reads first, in few cache lines.
  std::int32_t next = -1;     // the task to run next
  std::int32_t claimed = -1;  // a claimed task, to run next
  bool parked = false;
  bool awaits_acceptance = false;  // of a task that it has created for another place
  bool search_paid = false;        // the time of the next search was spent
  request_state request = request_state::none;
  picoseconds clock = 0;
  kith::job<sequential::worker_view>* current_job = nullptr;  // a job whose time was spent; its effect comes next
  frame_stack frames;                                         // of the current stack
  std::vector<frame_stack> suspended;                         // stacks that were left, oldest first
  int empty_rounds = 0, failed_searches = 0;                  // in a row

  core_position position;
  life::suspended_turn suspended_turn;
  std::vector<std::int32_t> adopted;   // unfinished children of tasks whose bodies have ended, newest last
  std::size_t fresh_adopted_from = 0;  // the number of entries of `adopted` when the current stack began
  std::vector<std::int32_t>
      unqueued;  // tasks that were given back and that the policy does not queue; they run before it is asked
  job_size current_job_size;
  data_walk data;  // of the running task
  line_walk lines;
  picoseconds contended_until = 0;  // until then it does not run ahead of other cores
  picoseconds job_began = 0;
  std::uint64_t tasks_until_throttle_check = 0;  // while it creates in a scope that its parent task waits for
  picoseconds parked_at = 0;
  picoseconds useful = 0, overhead = 0, stall = 0;
  std::uint64_t speed = 1024;  // factor on the core's time, in 1/1024; 1024 is speed 1
  std::uint64_t known_steals = 0;
  bool has_worked = false;  // it has found work in this run of the program

  using sequential::worker_view::here;

 protected:
  void charge(event e, worker_id owner) override;
  std::uint64_t now() const noexcept override { return clock; }
};

}  // namespace kith::sim
