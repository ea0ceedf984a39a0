// Describes a program and its parameters to users. For `kith apps` and `kith app NAME --help`.
#pragma once

#include "apps/app.hpp"
#include "command_line/tool.hpp"

#include <string>
#include <vector>

namespace kith::tools {

inline bool is_flag(const apps::parameter& p) { return p.standard == apps::flag; }

/// One line for the program, and one for each parameter with its presets.
std::string to_text(const apps::entry&);
/// All programs, for man pages and completion.
std::vector<subject> app_subjects();

}  // namespace kith::tools
