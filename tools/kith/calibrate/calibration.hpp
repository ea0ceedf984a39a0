// Makes a calibrated recording from a recorded run and a calibrated run of the same program. For `kith calibrate`.
#pragma once

#include "machine/probe.hpp"
#include "recording/recording.hpp"

namespace kith::tools {

/// Adds calibrations to `plain`: each sample of `calibrated` with the time of the same task in `plain`. Tasks are the
/// same if their identities are equal. `rates` are those of the machine on which both ran. Returns the number of
/// samples used.
std::size_t add_calibration(recording& plain, const recording& calibrated, const core_rates& rates);

}  // namespace kith::tools
