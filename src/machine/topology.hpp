// hwloc's topology as a kith::machine. Only for files of this folder: hwloc's names stay inside.
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

/// Not yet loaded. Shows also what the system does not allow this process to use.
topology new_topology();
/// False if hwloc cannot read it.
bool try_load(const topology&);
/// Loads it; `what` is named in the error.
void load(const topology&, const std::string& what);
/// A machine without its name. REQUIRES: loaded.
machine machine_of(const topology&);

}  // namespace kith
