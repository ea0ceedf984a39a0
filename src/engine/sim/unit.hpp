// The scheduling unit of a machine that has its task queues in hardware, and the prefetchers of its cores.
//
// Token and Reference scheduling, section 4.1. The policy's queues are in the unit. A request of a core and the task in
// its answer travel through the mesh; the unit does one operation at a time, in the order of their arrival, and each
// takes the same time. With an interval, which the paper does not have, it begins the next one earlier. A core that
// adds a task does not wait for the unit. A core that gets a task asks for the next one at once, if its buffer has
// room, so that it finds it there when it has ended the first. A request for which there is no task waits in the unit;
// those of idle cores are answered before those of prefetchers.
//
// With a bound on its entries, ready tasks that find the queues full wait in memory, in their order, as the paper
// proposes after Carbon (section 4.1). The policy does not know them. The unit writes one in an operation. When the
// queues have room for a memory line of tasks, or are empty, it reads a line, and does nothing else until memory has
// answered.
//
// A request may find a task as soon as the task's message is sent. It is answered after the unit has handled all that
// was sent earlier.
#pragma once

#include "engine/sim/memory.hpp"
#include "engine/sim/program.hpp"
#include "machine/model.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace kith::sim {

struct hardware_queues;

class unit {
 public:
  /// Throws kith::error if the machine has no unit.
  unit(const machine_model&, const hardware_queues&, const model_parts&);

  /// How long a message between the unit and node n travels.
  picoseconds travel(node_id n) const noexcept { return travel_[n.index()]; }
  /// When an operation is done whose message arrives at `arrival`.
  picoseconds serve(picoseconds arrival) noexcept {
    ++operations;
    busy += interval_;
    const picoseconds begins = std::max(free_, arrival);
    free_ = begins + interval_;
    return begins + each_;
  }
  /// When the read of a line of tasks is done that is requested at `now`.
  picoseconds read_line(picoseconds now) noexcept {
    ++operations;
    busy += memory_;
    free_ = std::max(free_, now) + memory_;
    return free_;
  }
  bool has_bound() const noexcept { return entries_ != 0; }  // on its entries
  /// How many ready tasks the queues have room for.
  std::size_t room() const noexcept { return in_memory.empty() ? entries_ - std::min(held, entries_) : 0; }
  /// How many tasks are to be read from memory now.
  std::size_t missing() const noexcept {
    const std::size_t free = entries_ - std::min(held, entries_), together = std::min(line_tasks_, in_memory.size());
    return free >= together || held == 0 ? std::min(free, together) : 0;
  }
  node_id node() const noexcept { return machine_.unit.node; }
  std::size_t buffered() const noexcept { return buffered_; }

  std::uint64_t operations = 0;
  picoseconds busy = 0;
  // With a bound on entries:
  std::size_t held = 0;         // tasks in the queues
  std::deque<task*> in_memory;  // ready tasks that found no room
  std::uint64_t spills = 0;     // the number of tasks that ever found no room
  bool reads = false;           // queued tasks come from memory, not from a core

 private:
  const machine_model& machine_;
  picoseconds each_, interval_, memory_ = 0;
  std::size_t buffered_, entries_, line_tasks_ = 1;  // 0 entries: no bound
  std::vector<picoseconds> travel_;                  // by node
  picoseconds free_ = 0;                             // when the next operation may begin
};

/// The prefetcher of one core.
struct prefetcher {
  enum class prefetch_state : std::uint8_t {
    idle,
    requests,  // its request arrives when `due`
    served,    // the unit searches for a task until `due`
    waits,     // its request waits in the unit for a task
  };
  struct fetched_task {
    std::int32_t task;
    picoseconds arrives;
  };
  prefetch_state current = prefetch_state::idle;
  picoseconds due = 0;
  std::deque<fetched_task> buffer;
};

}  // namespace kith::sim
