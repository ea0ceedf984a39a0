// Measures this machine, and writes what it found as a description for the simulator. For `kith machine --probe`.
#pragma once

#include "progress.hpp"

#include <cstdint>
#include <string>

namespace kith::tools {

/// The text of a description (docs/machines.md). Takes some seconds; other load on the machine makes it wrong.
std::string probe_machine(progress&);

/// The table [scheduler] alone, below a comment that says how it was measured.
std::string scheduler_table(progress&);
/// Puts it in the place of the one in a description. Throws kith::error if the file is none.
void put_scheduler_table(const std::string& file, const std::string& table);

/// What a core draws here, in GB/s.
struct core_rates {
  double memory = 0;  // from memory
  double last = 0;    // from the last level
  std::uint64_t last_bytes = 0;
  double near = 0;  // from the cache that it has for itself
  std::uint64_t near_bytes = 0;
};
core_rates measure_core_rates();
/// The same out of a description.
core_rates core_rates_of(const std::string& machine);

}  // namespace kith::tools
