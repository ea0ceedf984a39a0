// Converts hwloc's topology to a kith::machine. Only for files of this folder, to keep hwloc's names inside.
#pragma once

#include "machine/machine.hpp"

#include <hwloc.h>

#include <memory>
#include <string>

namespace kith {

struct destroy_topology {
  void operator()(hwloc_topology_t t) const noexcept;
};
using topology = std::unique_ptr<hwloc_topology, destroy_topology>;

/// A topology that is not loaded yet. It also shows what the system does not allow this process to use.
topology new_topology();
/// Loads it; false if hwloc cannot read it.
bool try_load(const topology&);
/// Loads it; throws kith::error that names `what`.
void load(const topology&, const std::string& what);
/// The machine, without its name. REQUIRES: the topology is loaded.
machine machine_of(const topology&);

}  // namespace kith
