// A modelled machine: what a machine is, and what its parts cost. Read from machines/*.toml, for simulation.
//
// A plain value. Numbers are the file's, in its units; docs/machines.md explains the keys. Every number has a source,
// which says whether it was printed, measured or fitted.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kith {

/// A connection between two vertices; it carries `gbs` in each direction.
struct machine_link {
  std::string from, to;  // "node K", or a switch's name
  double gbs = 0;
};

/// Nanoseconds that a scheduler's own work takes, at distance 10.
struct scheduler_costs {
  double create = 0;      // a task, without its accesses
  double dependence = 0;  // for each access or explicit predecessor
  double push = 0, pop = 0;
  double attempt = 0;  // a look at another worker's queue
  double steal = 0;    // in addition, if it got work
  double wake = 0;     // from the push until the sleeper looks
  double explore = 0;  // for each predecessor that a keyed node names
};

struct machine_model {
  machine hardware;
  std::string title, paper, file;
  double ghz = 0;
  int places = 1;                   // equal shares of the nodes that have memory of their own only
  std::vector<double> speeds;       // of each core, relative
  std::uint64_t cache_bytes = 0;    // of one last-level cache
  int caches_per_node = 1;          // equal shares of a node's cores have one each
  double cache_gbs = 0;             // one core from its last-level cache
  double between_gbs = 0;           // one core from another last-level cache of its node
  std::uint64_t private_bytes = 0;  // of the cache that a core has for itself; 0: none is modelled
  double private_gbs = 0;           // one core from that
  double memory_gbs = 0;            // one node's controllers
  double core_gbs = 0;              // one core from local memory
  std::uint32_t page_bytes = 0;
  std::vector<machine_link> links;
  scheduler_costs costs;
  std::uint64_t metadata_bytes = 0;  // of the runtime's, moved when a task runs on another node than its creator
  double overlap = 0;                // share of the shorter of computing and memory time that hides behind the longer
  double noise = 0;                  // half the width of the random factor on a task's time
  double memory_share = 0, remote_factor = 1;  // of a task's time, where only that is modelled
  std::map<std::string, std::string> sources;  // "table" or "table.key" -> where it is from

  /// The last-level cache of a core: those of node n are n * caches_per_node and the next ones.
  int cache_of(core_id) const;
};

/// Reads a description. Throws kith::error with file, line, key and what was expected.
machine_model model_from_file(const std::string& path);
/// The same of a description's text; complaints call it `path`.
machine_model model_from_text(const std::string& description, const std::string& path);
/// A name from the list, or a file.
machine_model model_by_name(const std::string& name_or_file);
/// The names of the machines there are descriptions of, sorted. The files lie in KITH_MACHINES, or else where this
/// build was made or installed.
std::vector<std::string> model_names();
/// The description file of `name`; empty if there is none.
std::string model_file(const std::string& name);

}  // namespace kith
