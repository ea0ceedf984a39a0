// What the graph of a window is partitioned onto.
#pragma once

#include "partition/partition.hpp"
#include "policy/contract/team.hpp"

namespace kith {

/// The nodes, each with its number of workers as capacity.
inline partition::targets targets_on(const team& workers) {
  partition::targets onto;
  for (int a = 0; a < workers.nodes(); ++a) {
    onto.capacity.push_back(workers.working_at(node_id(a)));
    for (int b = 0; b < workers.nodes(); ++b) onto.distance.push_back(workers.distance(node_id(a), node_id(b)));
  }
  return onto;
}

}  // namespace kith
