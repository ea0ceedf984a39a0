// The speed of this machine's memory and caches, and the share of a cache that a core can use.
#pragma once

#include "machine/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::tools {

/// a = b + 3 c on every CPU at once. Each CPU has `doubles` elements of its own for each of the three.
/// Returns gigabytes a second of all together, reads and writes.
double triad_gbs(const std::vector<int>& cpus, int os_node, std::size_t doubles);
/// Every CPU reads `bytes` of its own repeatedly, all at once. Returns gigabytes a second of the slowest.
double sweep_gbs(const std::vector<int>& cpus, int os_node, std::size_t bytes);
/// `to` reads what `from` has just written. Returns gigabytes a second.
double between_gbs(int from, int to, int os_node, std::size_t bytes);
/// Nanoseconds of a load on which the next load depends.
double chase_ns(int cpu, int os_node, std::size_t bytes);
/// Nanoseconds for a cache line to travel from one CPU to another.
double line_ns(int one, int other);

/// The last-level cache as it behaves. The system may report it wrongly: a virtual machine shows the host's cache, and
/// a core may get only a part of it.
struct last_level {
  std::uint64_t bytes = 0;  // that one core can keep in the cache
  int per_node = 1;         // more than 1 if all cores of a node can keep that much at once: then their number
  double gbs = 0;           // what one core reads from the cache
};
/// `cpus` must be of one node. `told`, `told_per_node`: the size of one cache and the number of caches in the node, as
/// the system reports them. `own`: the size of a core's own caches.
last_level measure_last_level(const std::vector<int>& cpus, int os_node, std::uint64_t told, int told_per_node,
                              std::uint64_t own);

}  // namespace kith::tools
