// Measures this machine, and writes the result as a description for the simulator. For `kith machine --probe`.
#pragma once

#include "progress.hpp"

#include <cstdint>
#include <string>

namespace kith::tools {

/// The text of a description (docs/machines.md). Takes some seconds. Other load on the machine falsifies it.
std::string probe_machine(progress&);

/// Only the table [scheduler], below a comment that says how it was measured.
std::string scheduler_table(progress&);
/// Replaces the table of a description. Throws kith::error if the file is no description.
void put_scheduler_table(const std::string& file, const std::string& table);

/// The bandwidth of one core here, in GB/s.
struct core_rates {
  double memory = 0;  // from memory
  double last = 0;    // from the last level
  std::uint64_t last_bytes = 0;
  double near = 0;  // from the core's own cache
  std::uint64_t near_bytes = 0;
};
core_rates measure_core_rates();
/// The same rates, from a description.
core_rates core_rates_of(const std::string& machine);

}  // namespace kith::tools
