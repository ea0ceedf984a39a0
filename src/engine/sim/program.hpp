// A recorded program as the simulator runs it: what each task does, in order, and what must come before.
//
// Immutable: made once from a recording, shared by all runs. Times are picoseconds on the machine it was recorded on.
#pragma once

#include "base/printable.hpp"
#include "recording/recording.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kith::sim {

using picoseconds = std::uint64_t;

/// One thing that a task's code does.
struct action {
  enum kind : std::uint8_t {
    compute,  // `value` picoseconds
    create,   // task `value`
    wait,     // until scope `value` is empty
  };
  std::uint64_t value : 62;
  std::uint64_t what : 2;
};

struct program {
  recording recorded;  // tasks, accesses, dependences; times of the run that was recorded

  // By task; the actions of task t are actions[first_action[t]] up to first_action[t + 1].
  std::vector<std::uint64_t> first_action;
  std::vector<action> actions;
  std::vector<picoseconds> compute;  // without the time for memory
  /// How much of what the memory model adds to the time of the nearest cache shows beside a task's computing, in 1/1024.
  struct shown {
    static constexpr std::uint32_t unknown = 0xffffffff;
    std::uint32_t last = unknown, memory = unknown;  // from the last level; from beyond it
    bool calibrated() const noexcept { return memory != unknown; }
    picoseconds of_last(picoseconds took, picoseconds near) const noexcept { return part(last, took, near); }
    picoseconds of_memory(picoseconds took, picoseconds near) const noexcept { return part(memory, took, near); }
    static picoseconds part(std::uint64_t of, picoseconds took, picoseconds near) noexcept {
      return took > near ? (took - near) * of >> 10 : 0;
    }
  };
  std::vector<shown> exposure;             // of calibrated tasks; of others the model's overlap says it. Empty: none is
  std::vector<std::uint64_t> bytes;        // touched
  std::vector<std::uint8_t> exclusive;     // it has commutative accesses
  std::vector<std::uint64_t> first_named;  // named[...]: the nodes that its computation names
  std::vector<std::int32_t> named;
  std::vector<std::pair<std::uint32_t, std::int32_t>> of_graphs;  // scope, node: of static graphs, but their sources
  std::vector<std::int32_t> roots;                                // in their order
  std::int32_t gathering = -1;  // the root, not of the recording, that creates what came from outside; the last task
  std::uint32_t scopes = 0;
  std::int32_t nodes = 1;                 // of the recorded machine
  std::vector<std::uint8_t> finds_first;  // by scope: of a graph all of whose nodes are found before any computes
  std::size_t measured_from = 0;          // the first root behind the last mark

  shown exposure_of(std::size_t t) const noexcept { return exposure.empty() ? shown() : exposure[t]; }
  std::size_t tasks() const noexcept { return recorded.tasks.size(); }
  std::span<const recorded_access> accesses(std::size_t t) const noexcept {
    return {recorded.accesses.data() + recorded.first_access[t],
            recorded.accesses.data() + recorded.first_access[t + 1]};
  }
  std::span<const recorded_dependence> dependences(std::size_t t) const noexcept {
    return {recorded.dependences.data() + recorded.first_dependence[t],
            recorded.dependences.data() + recorded.first_dependence[t + 1]};
  }
  /// For messages.
  std::string type_name(std::size_t t) const { return printable(recorded.types[recorded.tasks[t].type]); }
};

/// What the simulator makes of a recording. What of a calibrated task is computing, calibrated.hpp says. Of others the time
/// that their bytes took at `core_gbs`, which a core of the recorded machine drew from memory, is no computing. A dry
/// recording holds computing alone.
/// Throws kith::error for a recording of a run that did not end.
program program_of(recording, double core_gbs = 10);

}  // namespace kith::sim
