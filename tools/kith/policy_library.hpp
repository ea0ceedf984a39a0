// Policies from shared libraries: --policy-library. docs/policies.md says how to write and build one.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace kith::tools {

/// Adds the option, which may be given several times. `files` must outlive the command.
void add_policy_library(CLI::App& command, std::vector<std::string>& files);

/// Loads the libraries for the life of the process, and adds their policies to the list. Throws kith::error for a file
/// that cannot be loaded, is no such library, or was compiled with headers of another version of the contract.
void load_policy_libraries(const std::vector<std::string>& files);

}  // namespace kith::tools
