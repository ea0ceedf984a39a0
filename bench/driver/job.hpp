// Runs a program to its end and reads its output.
#pragma once

#include <string>
#include <vector>

namespace kith::bench {

/// The program's standard output. The first word is its path. Throws std::runtime_error if it fails, or has not ended
/// after two minutes.
std::string output_of(std::vector<std::string> words);

}  // namespace kith::bench
