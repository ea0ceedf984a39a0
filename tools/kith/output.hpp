// Files that verbs write. For all verbs that write one.
#pragma once

#include <string>
#include <vector>

namespace kith::tools {

/// Throws kith::error if `output` is one of the files that are read, under whatever name (another spelling, a symbolic or a
/// hard link), or if it could not be written. `option` is what named it. Before anything is read or run.
void refuse_output(const std::string& option, const std::string& output, const std::vector<std::string>& inputs);

/// The recordings that policies read: of each `replay:file=RECORDING`, its file.
std::vector<std::string> files_of(const std::vector<std::string>& policies);

/// Writes the whole text, or leaves what was there. Throws kith::error.
void write_text(const std::string& text, const std::string& file);

}  // namespace kith::tools
