// Where each task stands, and what the engine asks of it again and again: one cache line a task, instead of one in each of
// the program's columns. Tasks are met in an order that no cache foresees; what a task costs the simulator is how many
// lines it is spread over.
#pragma once

#include "engine/sim/program.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace kith::sim {

class policy_task;

struct alignas(64) task_record {
  // Of the program; [first, end) of its columns.
  std::uint32_t first_access, end_access, first_dependence, end_dependence, first_action, end_action;
  std::uint64_t bytes;  // touched
  std::uint32_t scope;
  std::int32_t color;  // on the simulated machine; negative: none
  std::int16_t node;   // likewise
  std::uint16_t type;
  std::uint8_t flags;  // recorded_task::flag
  std::uint8_t priority;
  // Of the run.
  task_state state = task_state::none;
  bool names : 1;             // its computation names nodes
  bool exclusive : 1;         // it has commutative accesses
  bool explored : 1 = false;  // of a keyed node: its predecessors were found
  std::uint32_t waits_for = 0;
  std::uint32_t first_successor = 0;  // 1 + dependence
  policy_task* seen = nullptr;        // as policies see it; none before it is made, and after it has ended

  bool has(recorded_task::flag f) const noexcept { return (flags & f) != 0; }
};
static_assert(sizeof(task_record) == 64);

/// Colors and nodes of a machine as those of another one.
using translation = std::function<std::int32_t(std::int32_t)>;

/// Of all tasks of the program. Throws kith::error for one with 2^32 accesses, dependences or actions.
std::vector<task_record> records_of(const program&, const translation& color, const translation& node);

}  // namespace kith::sim
