// A modelled machine: a machine, and what its parts cost. Read from machines/*.toml, for simulation.
//
// A plain value. Numbers are those of the file, in its units; docs/machines.md explains the keys. Every number
// has a source, which says whether it was printed, measured or fitted.
#pragma once

#include "machine/grid.hpp"
#include "machine/machine.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kith {

/// A connection between two vertices; it carries `gbs` in each direction.
struct machine_link {
  std::string from, to;  // "node K", or a switch's name
  double gbs = 0;
};

/// The scheduler's own work, in nanoseconds, at distance 10.
struct scheduler_costs {
  double create = 0;      // for a task, without its accesses
  double dependence = 0;  // for each access or explicit predecessor
  double push = 0, pop = 0;
  double attempt = 0;  // for a look at another worker's queue
  double steal = 0;    // in addition, if the look found work
  double wake = 0;     // from the push until the sleeper looks
  double explore = 0;  // for each predecessor that a keyed node names
};

/// The largest buffer of a core's task prefetcher.
inline constexpr int most_prefetched = 4;

/// Task queues in hardware: one unit for all cores, in the mesh, and a prefetcher at each core.
struct scheduling_unit {
  bool present = false;
  double cycles = 0;         // of one operation on the queues; the unit does one at a time
  node_id node;              // where it is
  double hop_cycles = 0;     // of a message, for each hop
  int prefetch = 0;          // tasks that a core's buffer holds
  int message_bytes = 0;     // of a request
  int descriptor_bytes = 0;  // of a task on its way to or from the unit
};

/// Where a core keeps lines whose home is elsewhere, and what happens to its copy of a line that it writes.
enum class home_copies : std::uint8_t {
  updated,      // in both levels
  dropped,      // in both levels, until it writes the line
  first_level,  // in the first level alone
};

/// What the fidelity line needs: a core's private caches, and messages that travel between nodes.
struct line_costs {
  struct cache {
    std::uint64_t bytes = 0;
    std::uint32_t ways = 0;
    double cycles = 0;  // until a hit has its data
  };
  bool present = false;
  cache first, second;
  int first_line_bytes = 64;  // of the first level; those of the second, and of messages, have 64
  double memory_cycles = 0;   // until memory has a line, without the route
  double hop_cycles = 0;      // the head of a message, for each hop
  int flit_bytes = 0;
  int control_bytes = 0, data_bytes = 0;  // a message without and with a line
  double access_cycles = 0;               // between two accesses of a core, if instructions are not known
  double instruction_cycles = 0;          // of a core for an instruction, without its access; 0: not known
  bool homes = false;                     // the second level of a line's node is its home cache (home_caches.hpp)
  home_copies copies = home_copies::updated;
  double home_cycles = 0;  // until a core has data that it reads from another home, without the hops
};

/// Dynamic energy of one event, in picojoules.
struct event_energies {
  int flit_bytes = 0;                                 // 0: there is no table
  double flit_hop = 0;                                // a flit through one link and router
  std::optional<double> first_access, second_access;  // of a core's caches: of a word; of a line
  std::optional<double> directory_access;             // an entry
  std::optional<double> memory_access;                // a line
  std::optional<double> unit_operation;               // of the scheduling unit
};

/// The distance of two different nodes of a grid: at least 10, as within a node.
int grid_distance(double base, double hop, int hops);

/// Equal hosts in a grid, too many for a table of all pairs.
struct host_grid {
  grid shape;
  double base = 0, hop = 0;  // of grid_distance()
  double gbs = 0;            // of a link
};

struct machine_model {
  machine hardware;                // of one host, if there are `hosts`
  std::optional<host_grid> hosts;  // one for each place
  std::string title, paper, file;
  double ghz = 0;
  int places = 1;                   // equal groups of nodes with separate memory, as the machines of a cluster
  std::vector<double> speeds;       // by core, relative
  std::uint64_t cache_bytes = 0;    // the size of one last-level cache
  int caches_per_node = 1;          // a node's cores are divided equally among them
  double cache_gbs = 0;             // for one core from its last-level cache
  double between_gbs = 0;           // for one core from another last-level cache of its node
  std::uint64_t private_bytes = 0;  // the size of a core's private cache; 0: none is modelled
  double private_gbs = 0;           // for one core from its private cache
  double memory_gbs = 0;            // for one node's controllers
  double core_gbs = 0;              // for one core from local memory
  std::uint32_t page_bytes = 0;
  std::vector<machine_link> links;
  scheduler_costs costs;
  scheduling_unit unit;
  line_costs line;
  event_energies energies;
  std::uint64_t metadata_bytes = 0;  // the runtime's data that moves if a task runs on another node than its creator
  double overlap = 0;                // share of the shorter of computing and memory time that is hidden
  double noise = 0;                  // half the width of the range of the random factor on a task's time
  double memory_share = 0, remote_factor = 1;  // for fidelity abstract
  std::map<std::string, std::string> sources;  // "table" or "table.key" -> its source

  /// The number of nodes, those of all hosts included.
  std::size_t nodes() const noexcept {
    return hosts ? static_cast<std::size_t>(hosts->shape.vertices()) : hardware.nodes.size();
  }
  /// The distance of two nodes, those of all hosts included.
  int distance(node_id a, node_id b) const {
    if (!hosts) return hardware.distance(a, b);
    const int hops = hosts->shape.hops(a.value, b.value);
    return hops == 0 ? 10 : grid_distance(hosts->base, hosts->hop, hops);
  }
  /// The last-level cache of a core. Those of node n have the numbers from n * caches_per_node on.
  int cache_of(core_id) const;
};

/// Reads a description. Throws kith::error with file, line, key and what was expected. With `places` the machine is
/// sized to that many equal hosts; throws kith::error if it is not a cluster of equal hosts (hosts.hpp).
machine_model model_from_file(const std::string& path, int places = 0);
/// As model_from_file(), for a description's text; errors call it `path`.
machine_model model_from_text(const std::string& description, const std::string& path, int places = 0);
/// Takes a name from model_names(), or a file.
machine_model model_by_name(const std::string& name_or_file, int places = 0);
/// The names of all described machines, sorted. The files are in KITH_MACHINES, else where this build was made
/// or installed.
std::vector<std::string> model_names();
/// The same, for whoever needs one: throws kith::error if KITH_MACHINES is no folder, or has no description.
std::vector<std::string> model_names_or_throw();
/// The description file of `name`; empty if there is none.
std::string model_file(const std::string& name);

}  // namespace kith
