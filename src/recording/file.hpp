// The recording's file: an SQLite database. docs/recording-format.md describes its tables.
#pragma once

#include "recording/assemble.hpp"
#include "recording/recording.hpp"

#include <string>

namespace kith {

/// Writes a new file, which replaces an older one when it is complete. Throws kith::error.
void write_recording(const recording&, const std::string& file, const progress& = {});
/// Throws kith::error if `file` is there and has anything but a recording in it, which a mistyped name would replace.
void refuse_to_replace(const std::string& file);
/// Throws kith::error if the file is missing, is no recording, has an unknown version, or is damaged.
recording read_recording(const std::string& file, const progress& = {});

}  // namespace kith
