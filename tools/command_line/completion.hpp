// Completion of command lines: scripts for three shells. Each knows the verbs, their options, and the words
// that a value may be.
#pragma once

#include "command_line/command_model.hpp"

#include <string>

namespace kith::tools {

std::string bash_completion(const tool_model&);
std::string zsh_completion(const tool_model&);
std::string fish_completion(const tool_model&);

}  // namespace kith::tools
