// Dry recordings of the bundled programs, made when a reproduction needs them. A separate process records, because the
// environment configures programs, as it does for users.
#pragma once

#include "engine/sim/program.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// Records `kith app` with these words dry, as on the machine described in the line `machine`. Its colors are for
/// `workers` workers. One worker records: several would find the nodes of a keyed graph in an order that differs
/// each time.
sim::program record_dry(const std::vector<std::string>& program, const std::string& machine, int workers,
                        const std::string& policy);

}  // namespace kith::tools
