// From the logs of a run to a recording.
#pragma once

#include "recording/parts.hpp"
#include "recording/recording.hpp"

#include <functional>
#include <string>

namespace kith {

/// Told now and then: what is being done, and how much of it (0 to 1).
using progress = std::function<void(const char* what, double share)>;

/// Reads the logs in a folder. A run that was killed has tasks without an end. Throws kith::error for what is no log, and
/// while another process writes the folder.
recording read_parts(const std::string& folder, const progress& = {});
/// read_parts(), written to the file; then the parts are removed. If it throws, they are still there.
void assemble_parts(const std::string& file, const progress& = {});

}  // namespace kith
