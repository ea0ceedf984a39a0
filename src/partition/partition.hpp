// Partitioning: takes a graph, targets and the parts of fixed vertices, and gives each vertex a part.
//
// It minimises the sum over all edges of weight times the distance between the parts of their ends. No part
// gets more than its limit, which is a share of the load by its capacity and a little more. One call has two
// methods: SCOTCH's mapping (RIP paper, section 4.3), if this build has it, and graph growing with refinement.
// Thread-safe. The same input gives the same parts.
#pragma once

#include "partition/graph.hpp"

#include <cstdint>
#include <exception>
#include <span>
#include <vector>

namespace kith::partition {

enum class method : std::uint8_t {
  scotch,  // SCOTCH_graphMap; with fixed vertices SCOTCH_graphMapFixed
  greedy,  // k-way graph growing from the fixed vertices, then refinement
};

struct request {
  const partition::graph& graph;
  const targets& onto;
  std::span<const std::int32_t> fixed = {};  // by vertex: its part, or -1 if it is free; empty: all are free
  double imbalance = 0.05;                   // by how much a part may exceed its share
};

/// Whether this build has SCOTCH. Without it, method::scotch means method::greedy.
bool have_scotch() noexcept;
/// SCOTCH's version ("7.0.3"); empty without SCOTCH.
const char* scotch_version() noexcept;

/// The method, or greedy if this build has no SCOTCH; reports that on standard error, once in a process.
method available(method wanted);

/// The part of each vertex. Throws kith::error for targets without capacity, and if SCOTCH fails. Cost: see
/// expected_nanoseconds().
std::vector<std::int32_t> parts_of(const request&, method);

/// Reports on standard error, once in a process, that parts_of() threw this in a run, and what happens to the tasks.
void say_failure(const std::exception& e) noexcept;

/// The most load that each part may get: its share rounded up plus the heaviest vertex less 1, (1 + imbalance)
/// times its share, or what is fixed there, whichever is most.
std::vector<std::int64_t> limits_of(const request&);
/// The load of each part.
std::vector<std::int64_t> loads_of(const request&, std::span<const std::int32_t> parts);
/// The sum of weight times distance.
std::int64_t cost_of(const graph&, const targets&, std::span<const std::int32_t> parts);

/// The time that parts_of() is expected to take. For simulated time, which no clock may influence. Fitted;
/// docs/simulation.md says to what.
std::uint64_t expected_nanoseconds(method, std::size_t vertices, std::size_t edges) noexcept;

}  // namespace kith::partition
