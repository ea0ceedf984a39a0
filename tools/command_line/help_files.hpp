// Writes man pages and shell completion to files.
#pragma once

#include "command_line/command_model.hpp"

#include <string>

namespace kith::tools {

/// Writes them below `folder`, laid out as in /usr/share or ~/.local/share. Throws kith::error if a file
/// cannot be written.
void write_help_files(const tool_model&, const std::string& folder);

}  // namespace kith::tools
