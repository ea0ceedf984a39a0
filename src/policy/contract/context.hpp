// What a policy is built from.
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
  const identity_source* identities = nullptr;               // of ready tasks; for gates
  std::span<std::pmr::memory_resource* const> own_memory{};  // by node: what its queues are made of; empty: of the heap

  /// What the queues of node n are made of. It outlives the policy; any thread may use it.
  std::pmr::memory_resource* memory_of(node_id n) const noexcept {
    return own_memory.empty() ? std::pmr::new_delete_resource() : own_memory[n.index()];
  }
  std::pmr::memory_resource* memory_of(worker_id w) const noexcept { return memory_of(workers.node_of(w)); }
};

}  // namespace kith
