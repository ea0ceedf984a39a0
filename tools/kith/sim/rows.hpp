// The JSON of `kith sim`: a row for each run.
#pragma once

#include "engine/sim/simulation.hpp"

#include <nlohmann/json.hpp>

namespace kith::tools {

/// The row of one run. Keys of fidelity line are left out at other fidelities.
nlohmann::json json_row(const sim::run_options&, const sim::result&, const machine_model&);

}  // namespace kith::tools
