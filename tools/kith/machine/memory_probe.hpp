// How fast this machine's memory and caches are, and how much of a cache a core really gets.
#pragma once

#include "machine/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::tools {

/// a = b + 3 c on every cpu at once, each on `doubles` of memory of its own for each of the three; gigabytes a second of
/// all together, reads and writes.
double triad_gbs(const std::vector<int>& cpus, int os_node, std::size_t doubles);
/// Every cpu reads `bytes` of its own again and again, all at once: gigabytes a second of the slowest.
double sweep_gbs(const std::vector<int>& cpus, int os_node, std::size_t bytes);
/// `to` reads what `from` has just written: gigabytes a second.
double between_gbs(int from, int to, int os_node, std::size_t bytes);
/// Nanoseconds of a load that the next one waits for.
double chase_ns(int cpu, int os_node, std::size_t bytes);
/// Nanoseconds for a cache line to go from one cpu to another.
double line_ns(int one, int other);

/// The last level as it behaves. What a system says of it need not hold: in a virtual machine it is the host's, of which
/// a core may fill a part only.
struct last_level {
  std::uint64_t bytes = 0;  // that one core can keep in it
  int per_node = 1;         // as many, if all cores of a node can keep that much at once
  double gbs = 0;           // one core from it
};
/// `cpus` are of one node. `told`: what the system says of one cache, and how many the node has. `own`: bytes of a core's
/// own caches.
last_level measure_last_level(const std::vector<int>& cpus, int os_node, std::uint64_t told, int told_per_node,
                              std::uint64_t own);

}  // namespace kith::tools
