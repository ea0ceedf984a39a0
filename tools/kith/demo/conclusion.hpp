// What trials teach, in sentences made from their figures. Differences within the spread are called that. For `kith
// demo`.
#pragma once

#include "demo/trial.hpp"

#include <string>

namespace kith::tools {

/// Of times. Two policies differ if every run of one was faster than every run of the other.
std::string time_lesson(const trial&);
/// Of remote accesses.
std::string locality_lesson(const trial&);
/// Of how evenly the nodes were used.
std::string balance_lesson(const trial&);

}  // namespace kith::tools
