// Dry recordings of the bundled programs, made when a reproduction needs them. A process of its own records: the
// programs are set up by the environment, as users would.
#pragma once

#include "engine/sim/program.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// `kith app` with these words, recorded dry as on a machine in one line; its colors are for so many workers. One worker
/// records: what several find of a keyed graph comes in the order of their threads, another one each time.
sim::program record_dry(const std::vector<std::string>& program, const std::string& machine, int workers,
                        const std::string& policy);

}  // namespace kith::tools
