// Identities: 64 bits that name a task in every run of a program, native, recorded or simulated.
//
// A task is known by its creator and its place among what the creator made; a node of a keyed graph by the graph and its
// key, whoever finds it first. Two tasks share an identity with the probability of a hash collision, or if two keys of a
// graph have the same std::hash; whoever reads a schedule checks that (replay/schedule.hpp).
#pragma once

#include "base/rng.hpp"

#include <cstdint>

namespace kith::identity {

/// The creator of what comes from threads that are no workers.
inline constexpr std::uint64_t outside = 1;

/// The n-th run of a runtime, from 1.
constexpr std::uint64_t of_root(std::uint64_t n) noexcept { return mix(mix(2) ^ n); }
/// The n-th task that `creator` created, from 0.
constexpr std::uint64_t of_child(std::uint64_t creator, std::uint64_t n) noexcept { return mix(mix(creator) + 2 * n); }
/// The n-th graph that `creator` explored, from 0.
constexpr std::uint64_t of_graph(std::uint64_t creator, std::uint64_t n) noexcept {
  return mix(mix(creator) + 2 * n + 1);
}
/// The node of this key.
constexpr std::uint64_t of_node(std::uint64_t graph, std::uint64_t key_hash) noexcept {
  return mix(mix(graph) ^ key_hash);
}

/// What a task knows while it creates others: its own name, and how far it has come.
struct creator {
  std::uint64_t self = outside;
  std::uint64_t children = 0, graphs = 0;  // so far
  std::uint64_t waits = 0;                 // begun

  std::uint64_t next_child() noexcept { return of_child(self, children++); }
  std::uint64_t next_graph() noexcept { return of_graph(self, graphs++); }
};

}  // namespace kith::identity
