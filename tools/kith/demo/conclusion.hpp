// Draws conclusions from the figures of trials, in sentences. Differences within the spread are reported as
// such. For `kith demo`.
#pragma once

#include "demo/trial.hpp"

#include <string>

namespace kith::tools {

/// On times. Two policies differ if every run of one was faster than every run of the other.
std::string time_lesson(const trial&);
/// On remote accesses.
std::string locality_lesson(const trial&);
/// On how evenly the nodes were used.
std::string balance_lesson(const trial&);

}  // namespace kith::tools
