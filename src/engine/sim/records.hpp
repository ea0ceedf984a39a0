// The state of each task, and what the engine often reads of it, in one cache line for each task. Tasks come in an
// unpredictable order, so each further line would be a miss.
#pragma once

#include "recording/recording.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <vector>

namespace kith::sim {

class policy_task;
struct program;

struct alignas(64) task_record {
  // From the program; [first, end) in its columns.
  std::uint32_t first_access, end_access, first_dependence, end_dependence, first_action, end_action;
  std::uint64_t bytes;  // touched bytes
  std::uint32_t scope;
  std::int32_t color;  // on the simulated machine, in a run; negative: none
  std::int16_t node;   // on the simulated machine, in a run; negative: none
  std::uint16_t type;
  std::uint8_t flags;  // recorded_task::flag
  std::uint8_t priority;
  // The state of this run.
  task_state state = task_state::none;
  bool names : 1;             // its computation names further nodes
  bool exclusive : 1;         // it has commutative accesses
  bool explored : 1 = false;  // for a keyed node: its predecessors were found
  bool arrived : 1 = false;   // it is in the buffer of its place
  bool accepted : 1 = false;  // its creator knows that another place has accepted it
  bool heard : 1 = false;     // the place of its creator has its result
  bool continues : 1;         // recorded_task::continues
  bool flow : 1;              // recorded_task::of_data_flow
  std::uint32_t waits_for = 0;
  std::uint32_t first_successor = 0;  // 1 + the dependence; 0: none
  policy_task* slot = nullptr;  // the task as policies see it; null before it is created and after its slot is freed

  bool has(recorded_task::flag f) const noexcept { return (flags & f) != 0; }
};
static_assert(sizeof(task_record) == 64);

/// The records of all tasks before a run, with the recorded colors and nodes. Throws kith::error for a program with
/// more than 2^32 - 2 accesses, dependences or actions.
std::vector<task_record> records_of(const program&);

}  // namespace kith::sim
