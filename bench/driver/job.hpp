// Runs a program to its end and reads what it prints.
#pragma once

#include <string>
#include <vector>

namespace kith::bench {

/// What the program wrote to its standard output. The first word is its path. Throws std::runtime_error if it fails, or
/// has not ended after two minutes.
std::string output_of(std::vector<std::string> words);

}  // namespace kith::bench
