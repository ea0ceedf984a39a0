// The file: a recording as an SQLite database. docs/recording-format.md describes its tables.
#pragma once

#include "recording/assemble.hpp"
#include "recording/recording.hpp"

#include <string>

namespace kith {

/// Writes the file anew; it takes the place of an older one when it is whole. Throws kith::error.
void write_recording(const recording&, const std::string& file, const progress& = {});
/// Throws kith::error for a file that is not there, no recording, of another version, or damaged.
recording read_recording(const std::string& file, const progress& = {});

}  // namespace kith
