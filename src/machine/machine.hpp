// What a machine is: its cores, memory nodes, caches, and how far its nodes are from each other.
//
// A plain value: discovered once, or made from a line of text, then only read. Any layer above may use it.
#pragma once

#include "base/id.hpp"

#include <cstdint>
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
    int kind = 0;           // 0: the fastest cores; hybrid processors also have 1, 2, ...
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
    std::vector<core_id> cores;  // that share it
  };

  std::string name;
  bool pretended = false;  // this process runs elsewhere: nothing is bound to its cores, placed on its nodes
  std::vector<core> cores;
  std::vector<node> nodes;
  std::vector<cache> caches;                // of data, by level; within a level by first core
  std::vector<std::vector<int>> distances;  // distances[a][b], local = 10

  int distance(node_id a, node_id b) const { return distances[a.index()][b.index()]; }
  /// All nodes by distance: `from` first, equals by index.
  std::vector<node_id> nearest_nodes(node_id from) const;
  /// `from` if it has cores, else the nearest node that has.
  node_id nearest_node_with_cores(node_id from) const;
  /// Where memory comes from that a core of `from` touches first: `from` if it has memory, else the nearest node that
  /// has, of equals the next one after it in the system's numbers, as Linux takes them. `from`, too, where no node's
  /// memory is known.
  node_id nearest_node_with_memory(node_id from) const;
};

/// The machine this process runs on; all of it, whatever the process may use (that is limits.hpp).
machine discover_machine();
/// A machine in a line, in hwloc's synthetic notation: "node:8 core:10", "pack:2 node:2 l3:1 core:8 pu:2".
/// At most 1024 in a level and 4096 hardware threads. Words may have attributes: "node:8(memory=64GB)". An extra word
/// gives the distances: "distance:21" (between different nodes; 20 if absent) or a matrix, "distance:10,16/16,10".
machine synthetic_machine(std::string_view line);
/// What a file describes: an XML file exported by hwloc (`lstopo machine.xml`).
machine machine_from_file(const std::string& path);
/// The name of a described machine (`kith machines`), a file (hwloc's XML, or a description ending in .toml), or else a
/// synthetic line.
machine machine_by_name(const std::string& file_or_line);
/// KITH_MACHINE (a file or a line) if set, else this machine; that is discovered once in a process.
machine current_machine();

std::string to_json(const machine&);
/// The distances as in a line: "10,16/16,10".
std::string distances_text(const machine&);

}  // namespace kith
