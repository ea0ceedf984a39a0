// Programs that are run to be recorded: each of their runtimes writes parts, of which recordings are made afterwards.
#pragma once

#include "child.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

/// The variables by which the runtimes of a program record in FILE, FILE-2 and so on.
std::vector<std::pair<std::string, std::string>> settings_that_record(const std::string& file);

/// Makes recordings of all parts that the program has written, and prints a summary of each, which `verb` begins.
/// Returns their files; throws kith::error for those that cannot be made, and if there is nothing.
std::vector<std::string> make_recordings(const char* verb, const std::string& file, const std::string& program,
                                         const child_result& done, bool dry);

}  // namespace kith::tools
