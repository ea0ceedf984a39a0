// Identities: 64 bits that name a task in every run of a program, native, recorded or simulated.
//
// A task's identity comes from its creator and its number among that creator's tasks. A node of a keyed graph
// gets it from the graph and its key, whichever worker finds the node first. Two tasks share an identity with
// the probability of a hash collision, or if two keys of a graph have the same std::hash; the reader of a
// schedule checks that (replay/schedule.hpp).
#pragma once

#include "base/rng.hpp"

#include <cstdint>

namespace kith::identity {

/// The creator of tasks from threads that are no workers.
inline constexpr std::uint64_t outside = 1;

/// The n-th run of a runtime, from 1.
constexpr std::uint64_t of_root(std::uint64_t n) noexcept { return mix(mix(2) ^ n); }
/// The n-th task that `creator` created, from 0.
constexpr std::uint64_t of_child(std::uint64_t creator, std::uint64_t n) noexcept { return mix(mix(creator) + 2 * n); }
/// The n-th graph that `creator` explored, from 0.
constexpr std::uint64_t of_graph(std::uint64_t creator, std::uint64_t n) noexcept {
  return mix(mix(creator) + 2 * n + 1);
}
/// The node with this key.
constexpr std::uint64_t of_node(std::uint64_t graph, std::uint64_t key_hash) noexcept {
  return mix(mix(graph) ^ key_hash);
}

/// The state of a task that creates others: its own identity, and its counts.
struct naming_state {
  std::uint64_t self = outside;
  std::uint64_t children = 0, graphs = 0;  // created and explored so far
  std::uint64_t waits = 0;                 // waits begun

  std::uint64_t next_child() noexcept { return of_child(self, children++); }
  std::uint64_t next_graph() noexcept { return of_graph(self, graphs++); }
};

}  // namespace kith::identity
