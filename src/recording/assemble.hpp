// Makes a recording from the logs of a run.
#pragma once

#include "recording/parts.hpp"
#include "recording/place_part.hpp"
#include "recording/recording.hpp"

#include <functional>
#include <string>
#include <vector>

namespace kith {

/// Called from time to time with the present step and the share of it that is done (0 to 1).
using progress = std::function<void(const char* what, double share)>;

/// Reads the logs in a folder. A run that was killed has tasks without an end. Throws kith::error if a file is
/// no log, or if another process is writing the folder.
recording read_parts(const std::string& folder, const progress& = {});
/// Reads the logs of a place in a folder, with what merging needs (merge.hpp).
place_part read_part(const std::string& folder, const progress& = {});
/// Writes what read_parts() returns to the file, then removes the parts. If it throws, the parts are kept. `complete`
/// may add to the recording before it is written. The recording of a place has its place and its messages.
void assemble_parts(const std::string& file, const progress& = {},
                    const std::function<void(recording&)>& complete = {});

/// Makes one recording, the first file, of the parts of several places of a job. REQUIRES: by_job() has grouped
/// these files.
void assemble_places(const std::vector<std::string>& files, const progress& = {},
                     const std::function<void(recording&)>& complete = {});
}  // namespace kith
