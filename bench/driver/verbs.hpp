// The verbs of kith-bench; each returns the exit code.
#pragma once

#include "systems.hpp"

namespace kith::bench {

int run_dag(const options&);
int run_metg(const options&);

}  // namespace kith::bench
