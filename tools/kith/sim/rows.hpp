// The JSON of `kith sim`: a row for each run.
#pragma once

#include "engine/sim/simulation.hpp"

#include <nlohmann/json.hpp>

namespace kith::tools {

/// The row of one run. Keys that only the fidelity line has are left out elsewhere.
nlohmann::json json_row(const sim::run_options&, const sim::result&, const machine_model&);

}  // namespace kith::tools
