// Recordings of bundled programs with the addresses that they touch, made when a reproduction needs them.
#pragma once

#include "engine/sim/program.hpp"
#include "machine/model.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kith::tools {

/// The executable kith-traced, beside this tool or where it is installed; nothing if this build has none.
std::optional<std::string> find_traced_programs();

/// Runs a program of kith-traced with these words on one worker, and converts its addresses for the machine's caches.
/// Throws kith::error if this build has no kith-traced, or if the program fails.
sim::program record_traced(const std::vector<std::string>& program, const machine_model&);

}  // namespace kith::tools
