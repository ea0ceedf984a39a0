#include "machine/topology.hpp"

#include "base/fork.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>

namespace kith {

namespace {

/// Held around calls that take a lock inside hwloc, so that this lock is free in a child of fork().
std::mutex hwloc_state;
[[maybe_unused]] const bool hwloc_state_is_kept = (keep_over_fork(hwloc_state), true);

/// Keeps hwloc's plugins loaded: hwloc loads them for a topology if no other exists, which takes longer than all other
/// work with a small one. Guarded by hwloc_state.
hwloc_topology_t keeps_plugins = nullptr;

std::vector<hwloc_obj_t> objects(const topology& from, hwloc_obj_type_t type) {
  std::vector<hwloc_obj_t> found;
  for (hwloc_obj_t o = nullptr; (o = hwloc_get_next_obj_by_type(from.get(), type, o)) != nullptr;) found.push_back(o);
  return found;
}

std::vector<int> numbers(hwloc_const_bitmap_t set) {
  std::vector<int> found;
  for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) found.push_back(i);
  return found;
}

/// The cores. Hardware threads that no core contains also count as cores (some virtual machines show no cores).
std::vector<hwloc_obj_t> core_objects(const topology& from) {
  std::vector<hwloc_obj_t> found = objects(from, HWLOC_OBJ_CORE);
  for (hwloc_obj_t pu : objects(from, HWLOC_OBJ_PU)) {
    if (hwloc_get_ancestor_obj_by_type(from.get(), HWLOC_OBJ_CORE, pu) == nullptr) found.push_back(pu);
  }
  return found;
}

/// The node nearest to a core: of the nodes whose CPUs include it, the one with the fewest CPUs. Of several such nodes
/// (main memory and high-bandwidth memory) it is the first. A core that no node includes gets the first node.
node_id node_of(hwloc_const_bitmap_t cpus, const std::vector<hwloc_obj_t>& nodes) {
  node_id nearest(0);
  int fewest = -1;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (hwloc_bitmap_isincluded(cpus, nodes[n]->cpuset) == 0) continue;
    const int weight = hwloc_bitmap_weight(nodes[n]->cpuset);
    if (fewest < 0 || weight < fewest) {
      fewest = weight;
      nearest = node_id(static_cast<int>(n));
    }
  }
  return nearest;
}

/// hwloc ranks kinds from the least powerful up, or not at all if it cannot tell which is faster.
int class_of(const topology& from, hwloc_const_bitmap_t cpus) {
  const int kinds = hwloc_cpukinds_get_nr(from.get(), 0);
  const int kind = kinds > 1 ? hwloc_cpukinds_get_by_cpuset(from.get(), cpus, 0) : -1;
  int efficiency = -1;
  if (kind < 0) return 0;
  hwloc_cpukinds_get_info(from.get(), static_cast<unsigned>(kind), nullptr, &efficiency, nullptr, nullptr, 0);
  return efficiency < 0 ? 0 : kinds - 1 - efficiency;
}

std::vector<std::vector<int>> default_distances(std::size_t nodes) {
  std::vector<std::vector<int>> table(nodes, std::vector<int>(nodes, 20));
  for (std::size_t n = 0; n < nodes; ++n) table[n][n] = 10;
  return table;
}

/// The system's latencies between nodes, scaled so that local is 10. Unknown values stay 10 (local) and 20.
std::vector<std::vector<int>> distances_of(const topology& from, std::size_t nodes) {
  std::vector<std::vector<int>> table = default_distances(nodes);
  hwloc_distances_s* found = nullptr;
  unsigned count = 1;
  if (hwloc_distances_get_by_type(from.get(), HWLOC_OBJ_NUMANODE, &count, &found, HWLOC_DISTANCES_KIND_MEANS_LATENCY,
                                  0) != 0 ||
      count == 0) {
    return table;
  }
  for (unsigned a = 0; a < found->nbobjs; ++a) {
    const auto local = static_cast<double>(found->values[a * found->nbobjs + a]);
    for (unsigned b = 0; b < found->nbobjs; ++b) {
      const auto value = static_cast<double>(found->values[a * found->nbobjs + b]);
      if (found->objs[a] == nullptr || found->objs[b] == nullptr || value <= 0 || local <= 0) continue;
      table[found->objs[a]->logical_index][found->objs[b]->logical_index] =
          std::max(1, static_cast<int>(std::lround(10 * value / local)));
    }
  }
  hwloc_distances_release(from.get(), found);
  return table;
}

std::vector<machine::cache> caches_of(const topology& from, const std::vector<hwloc_obj_t>& cores) {
  std::vector<machine::cache> found;
  for (hwloc_obj_type_t type :
       {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
    for (hwloc_obj_t o : objects(from, type)) {
      machine::cache c{static_cast<int>(o->attr->cache.depth),
                       o->attr->cache.size,
                       std::max(0, static_cast<int>(o->attr->cache.linesize)),
                       {}};
      for (std::size_t i = 0; i < cores.size(); ++i) {
        if (hwloc_bitmap_intersects(cores[i]->cpuset, o->cpuset) != 0) c.cores.emplace_back(static_cast<int>(i));
      }
      found.push_back(std::move(c));
    }
  }
  return found;
}

}  // namespace

void destroy_topology::operator()(hwloc_topology_t t) const noexcept {
  const std::lock_guard lock(hwloc_state);
  hwloc_topology_destroy(t);
}

topology new_topology() {
  const std::lock_guard lock(hwloc_state);
  if (keeps_plugins == nullptr) hwloc_topology_init(&keeps_plugins);
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0)
    throw error("hwloc could not start: " + std::string(std::strerror(errno)) + "; free some memory",
                error_kind::resources);
  hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return topology(made);
}

bool try_load(const topology& t) {
  const std::lock_guard lock(hwloc_state);
  return hwloc_topology_load(t.get()) == 0;
}

void load(const topology& t, const std::string& what) {
  if (!try_load(t))
    throw error(what + ": hwloc could not read the topology: " + std::strerror(errno) +
                    "; set KITH_MACHINE to a machine that is known (`kith machines`)",
                error_kind::resources);
}

machine machine_of(const topology& from) {
  machine made;
  const std::vector<hwloc_obj_t> nodes = objects(from, HWLOC_OBJ_NUMANODE);
  const std::vector<hwloc_obj_t> cores = core_objects(from);
  if (nodes.empty() || cores.empty())
    throw error(
        "hwloc's topology has no memory node or no CPU; set KITH_MACHINE to a machine that is known (`kith machines`)",
        error_kind::resources);
  for (hwloc_obj_t o : nodes) {
    made.nodes.push_back({node_id(static_cast<int>(made.nodes.size())),
                          static_cast<int>(o->os_index),
                          o->attr->numanode.local_memory,
                          {}});
  }
  for (hwloc_obj_t o : cores) {
    const core_id id(static_cast<int>(made.cores.size()));
    const node_id node = node_of(o->cpuset, nodes);
    made.cores.push_back({id, node, numbers(o->cpuset), class_of(from, o->cpuset)});
    made.nodes[node.index()].cores.push_back(id);
  }
  made.caches = caches_of(from, cores);
  made.distances = distances_of(from, nodes.size());
  made.pretended = hwloc_topology_is_thissystem(from.get()) == 0;
  return made;
}

}  // namespace kith
