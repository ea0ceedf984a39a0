// A recorded program as the simulator runs it: what each task does, in order, and its dependences.
//
// Immutable: made once from a recording, shared by all runs. Times are picoseconds on the recorded machine.
#pragma once

#include "base/printable.hpp"
#include "engine/sim/line_streams.hpp"
#include "engine/sim/records.hpp"
#include "recording/recording.hpp"
#include "task/task.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::sim {

using picoseconds = std::uint64_t;

/// One step of a task's code.
struct action {
  enum kind : std::uint8_t {
    compute,  // `value` picoseconds
    create,   // task `value`
    wait,     // until scope `value` is empty
    ask,      // sends request value / 2; with an odd value, waits until its reply has arrived
  };
  std::uint64_t value : 62;
  std::uint64_t what : 2;
};

struct program {
  recording recorded;  // tasks, accesses, dependences; with the times of the recorded run

  // By task: the actions of task t are actions[first_action[t]] up to, not including, actions[first_action[t + 1]].
  std::vector<std::uint64_t> first_action;
  std::vector<action> actions;
  std::vector<picoseconds> compute;  // by task, without the time for memory
  /// A task's exposure: how much of the time that the memory model adds to that of the nearest cache is not
  /// hidden by computing, in 1/1024.
  struct exposure_factors {
    static constexpr std::uint32_t unknown = 0xffffffff;
    std::uint32_t last = unknown, memory = unknown;  // for data from the last level; from beyond it
    bool calibrated() const noexcept { return memory != unknown; }
    picoseconds of_last(picoseconds took, picoseconds near) const noexcept { return part(last, took, near); }
    picoseconds of_memory(picoseconds took, picoseconds near) const noexcept { return part(memory, took, near); }
    static picoseconds part(std::uint64_t factor, picoseconds took, picoseconds near) noexcept {
      return took > near ? (took - near) * factor >> 10 : 0;
    }
  };
  std::vector<exposure_factors> exposure;  // of calibrated tasks; others use the model's overlap. May be empty
  std::vector<std::uint64_t> bytes;        // touched bytes, by task
  std::vector<std::uint8_t> exclusive;     // by task: it has commutative accesses
  // What a run reads of accesses and dependences, in the recording's order but without what it does not need: a run
  // waits for each cache line of them.
  struct access {
    kept_access kept;       // as policies see it; regions have the recording's index plus 1
    std::uint32_t touched;  // bytes; `many`: as recorded
    static constexpr std::uint32_t many = 0xffffffff;
  };
  std::vector<access> accesses;
  std::vector<std::int32_t> passed_by;     // by access: who delivered the reference; empty: no task delivers any
  std::vector<std::int32_t> predecessors;  // by dependence
  std::vector<task_record> records;        // by task: before a run, which has a copy
  std::vector<std::uint64_t> first_named;  // by task, into `named`: the nodes that its computation names
  std::vector<std::int32_t> named;
  std::vector<std::pair<std::uint32_t, std::int32_t>>
      static_graph_nodes;           // scope, node: of static graphs, without sources
  std::vector<std::int32_t> roots;  // by member, in the order of their starts
  std::uint32_t scopes = 0;
  std::vector<std::uint8_t> found_first;  // by scope: of a graph whose nodes are all found before any computes
  // By task: where it must run, and the bytes of its arguments, which travel if another place creates it. Empty: the
  // program has no places.
  std::vector<std::uint16_t> place;
  std::vector<std::uint32_t> message_bytes;
  // By task: the bytes of what it returns to the place of its creator, in a message of its own; -1: it returns nothing.
  // Empty: no task does.
  std::vector<std::int64_t> result_bytes;
  /// A request of a task that another place's progress thread serves.
  struct request {
    std::uint16_t to = 0;
    std::uint64_t bytes = 0, reply_bytes = 0;  // without headers
    std::int32_t sender = -1;
    std::int32_t awaited_by = -1;  // the part of a coroutine that begins when the reply has arrived; -1: none
  };
  std::vector<request> requests;
  line_streams lines;  // what tasks touch, for the fidelity line; else empty

  /// One of the recorded programs that run at once (combine.hpp): its share of the tables, and where it was recorded.
  struct member {
    std::size_t first_task = 0, end_task = 0;
    std::size_t first_root = 0, end_root = 0;  // in `roots`
    std::size_t measured_from = 0;             // the first root after the last mark
    std::size_t end_allocation = 0;
    std::int32_t nodes = 1;          // of the recorded machine
    std::int32_t workers = 0;        // of the recorded run
    std::int32_t outside_root = -1;  // an added root, the last task, that creates the tasks that came from outside
  };
  std::vector<member> members;  // at least one

  exposure_factors exposure_of(std::size_t t) const noexcept {
    return exposure.empty() ? exposure_factors() : exposure[t];
  }
  std::size_t tasks() const noexcept { return recorded.tasks.size(); }
  std::size_t member_of(std::size_t task) const noexcept {
    std::size_t m = 0;
    while (task >= members[m].end_task) ++m;
    return m;
  }
  /// The bytes that the access touches. REQUIRES: `a` is one of `accesses`.
  std::uint64_t touched_by(const access& a) const noexcept {
    return a.touched != access::many ? a.touched
                                     : recorded.accesses[static_cast<std::size_t>(&a - accesses.data())].touched;
  }
  std::span<const recorded_access> recorded_accesses(std::size_t t) const noexcept {
    return {recorded.accesses.data() + recorded.first_access[t],
            recorded.accesses.data() + recorded.first_access[t + 1]};
  }
  std::span<const recorded_dependence> dependences(std::size_t t) const noexcept {
    return {recorded.dependences.data() + recorded.first_dependence[t],
            recorded.dependences.data() + recorded.first_dependence[t + 1]};
  }
  /// The type's name for messages.
  std::string type_name(std::size_t t) const { return printable(recorded.types[recorded.tasks[t].type]); }
};

/// Makes a program from a recording. calibrated.hpp says what part of a calibrated task's time is computing. For other
/// tasks, the time that their bytes take at `core_gbs`, the memory bandwidth of a core of the recorded machine, is not
/// computing. A dry recording holds only computing. Throws kith::error for a recording of a run that did not end, or
/// with more than records_of() takes.
program program_of(recording, double core_gbs = 10);

/// Fills in what a run reads of tasks, accesses and dependences. REQUIRES: the tables that they are made of are
/// complete.
void keep_for_runs(program& p);

}  // namespace kith::sim
