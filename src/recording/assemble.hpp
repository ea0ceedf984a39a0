// From the logs of a run to a recording.
#pragma once

#include "recording/recording.hpp"

#include <functional>
#include <map>
#include <string>

namespace kith {

/// Makes the folder of the parts of recording `file`, empty but for what is said about the run; returns its path. Throws
/// kith::error if it cannot.
std::string make_parts(const std::string& file, const std::map<std::string, std::string>& about);
/// The folder, whether it is there or not.
std::string parts_of(const std::string& file);

/// Told now and then: what is being done, and how much of it (0 to 1).
using progress = std::function<void(const char* what, double share)>;

/// Reads the logs in a folder. A run that was killed has tasks without an end. Throws kith::error for what is no log.
recording read_parts(const std::string& folder, const progress& = {});
/// read_parts(), written to the file; then the parts are removed.
void assemble_parts(const std::string& file, const progress& = {});

}  // namespace kith
