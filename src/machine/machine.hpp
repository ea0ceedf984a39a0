// A machine: its cores, memory nodes, caches, and the distances between its nodes.
//
// A plain value: discovered once or made from a line of text, then only read. Any layer above may use it.
#pragma once

#include "base/id.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// INVARIANTS: at least one core and one node; cores[i].id == i, nodes[i].id == i; every core is on exactly
/// one node's list; distances is nodes x nodes and positive.
struct machine {
  struct core {
    core_id id;
    node_id node;
    std::vector<int> cpus;  // the system's numbers of its hardware threads, ascending, at least one
    int core_class = 0;     // 0: the fastest cores; hybrid processors also have 1, 2, ...
  };
  struct node {
    node_id id;
    int os_index = 0;
    std::uint64_t memory_bytes = 0;  // 0: a node without memory, or not known
    std::vector<core_id> cores;      // may be empty
  };
  struct cache {
    int level = 0;
    std::uint64_t bytes = 0;     // 0: not known
    int line_bytes = 0;          // 0: not known
    std::vector<core_id> cores;  // the cores that share it
  };

  std::string name;
  bool pretended = false;  // this is not the real machine: nothing is bound or placed on it
  std::vector<core> cores;
  std::vector<node> nodes;
  std::vector<cache> caches;                // data caches, by level; within a level by first core
  std::vector<std::vector<int>> distances;  // distances[a][b], local = 10

  int distance(node_id a, node_id b) const { return distances[a.index()][b.index()]; }
  /// All nodes by distance: `from` first, ties by index.
  std::vector<node_id> nearest_nodes(node_id from) const;
  /// `from` if it has cores, else the nearest node that has.
  node_id nearest_node_with_cores(node_id from) const;
  /// The node of memory that a core of `from` touches first: `from` if it has memory, else the nearest node
  /// that has. A tie goes to the next node after `from` in the system's numbers, as in Linux. If no node's
  /// memory is known, `from`.
  node_id nearest_node_with_memory(node_id from) const;
  /// The last-level cache of each core, as an index of `caches`; -1: not known.
  std::vector<int> last_caches() const;
};

/// The machine that this process runs on: all of it, whatever the process may use (limits.hpp has that).
machine discover_machine();
/// Makes a machine from a line in hwloc's synthetic notation: "node:8 core:10", "pack:2 node:2 l3:1 core:8 pu:2". At
/// most 1024 in a level, and 4096 hardware threads. Words may have attributes: "node:8(memory=64GB)". An extra word
/// gives the distances: "distance:21" (between different nodes; 20 if absent), or a matrix, "distance:10,16/16,10".
machine synthetic_machine(std::string_view line);
/// Reads a machine from an XML file exported by hwloc (`lstopo machine.xml`).
machine machine_from_file(const std::string& path);
/// Takes the name of a described machine (`kith machines`), a file (hwloc's XML, or a description ending in
/// .toml), or else a synthetic line.
machine machine_by_name(const std::string& file_or_line);
/// Discovered once in a process.
machine this_machine();
/// The option (a name, a file or a line; empty: this machine) if there is one, else KITH_MACHINE, else this machine.
machine current_machine(const std::optional<std::string>& option = {});

std::string to_json(const machine&);
/// The distances as in a synthetic line: "10,16/16,10".
std::string distances_text(const machine&);

}  // namespace kith
