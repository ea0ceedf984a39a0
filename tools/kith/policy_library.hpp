// Policies from shared libraries: --policy-library. docs/policies.md says how one is written and built.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace kith::tools {

/// Adds the option, which may be given several times. `files` outlives the command.
void add_policy_library(CLI::App& command, std::vector<std::string>& files);

/// Loads them, for the life of the process: their policies are then in the list. Throws kith::error for a file that cannot
/// be loaded, is no such library, or was compiled with the headers of another contract.
void load_policy_libraries(const std::vector<std::string>& files);

}  // namespace kith::tools
