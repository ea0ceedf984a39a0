// Measures this machine, and writes what it found as a description for the simulator. For `kith machine --probe`.
#pragma once

#include "progress.hpp"

#include <string>

namespace kith::tools {

/// The text of a description (docs/machines.md). Takes some seconds; other load on the machine makes it wrong.
std::string probe_machine(progress&);

}  // namespace kith::tools
