// The measurements of kith-bench. Each prints its rows, and throws if there are none.
#pragma once

#include "systems.hpp"

namespace kith::bench {

void run_dag(const options&);
void run_metg(const options&);

}  // namespace kith::bench
