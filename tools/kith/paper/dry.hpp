// Dry recordings of the bundled programs, made when a reproduction needs them. A separate process records,
// because programs are set up by the environment, as users would set them up.
#pragma once

#include "engine/sim/program.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// Records `kith app` with these words dry, as on the machine described in the line `machine`. Its colors
/// are for `workers` workers. One worker records: what several workers find of a keyed graph would be in
/// the order of their threads, which differs each time.
sim::program record_dry(const std::vector<std::string>& program, const std::string& machine, int workers,
                        const std::string& policy);

}  // namespace kith::tools
