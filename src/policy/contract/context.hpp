// The arguments from which a policy is built.
#pragma once

#include "memory/view.hpp"
#include "policy/contract/team.hpp"
#include "task/identities.hpp"
#include "task/region.hpp"

#include <cstdint>
#include <memory_resource>
#include <span>

namespace kith {

struct policy_context {
  const team& workers;
  region_table& regions;
  std::uint64_t seed;
  memory_view memory{regions, workers.served_by()};
  const identity_source* identities = nullptr;               // identities of ready tasks; for gates
  std::span<std::pmr::memory_resource* const> own_memory{};  // by node: the memory for its queues; empty: the heap

  /// The memory for the queues of node n. It outlives the policy. Thread-safe.
  std::pmr::memory_resource* memory_of(node_id n) const noexcept {
    return own_memory.empty() ? std::pmr::new_delete_resource() : own_memory[n.index()];
  }
  std::pmr::memory_resource* memory_of(worker_id w) const noexcept { return memory_of(workers.node_of(w)); }
};

}  // namespace kith
