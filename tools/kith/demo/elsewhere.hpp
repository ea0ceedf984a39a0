// The demo's own run on a machine that nobody has on the desk: recorded here, simulated there. For `kith demo`.
#pragma once

#include "apps/app.hpp"
#include "progress.hpp"

#include <string>
#include <vector>

namespace kith::tools {

/// Records one run of the program on this machine and runs the recording on `machine` under each policy. Prints a table
/// with bars, writes the picture to `picture` (if that is not empty), and returns what it says in a sentence.
std::string run_elsewhere(apps::app&, const std::string& name, const std::string& machine,
                          const std::vector<std::string>& policies, const std::string& picture, progress&);

}  // namespace kith::tools
