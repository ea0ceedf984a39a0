// Writes files. For all verbs that write one.
#pragma once

#include <string>
#include <vector>

namespace kith::tools {

/// Throws kith::error if `output` is one of `inputs`, under whatever name (another spelling, a symbolic or a hard
/// link), or if it could not be written. `option` is the option that named it. Must be called before anything is read
/// or run.
void refuse_output(const std::string& option, const std::string& output, const std::vector<std::string>& inputs);

/// The recordings that policies read: the file of each `replay:file=RECORDING`.
std::vector<std::string> files_of(const std::vector<std::string>& policies);

/// Writes the whole text, or throws kith::error and leaves the old file.
void write_text(const std::string& text, const std::string& file);

}  // namespace kith::tools
