// What can be told of a program before it runs: whether a library that is loaded in front of libgomp can serve it.
#pragma once

#include <string>

namespace kith::tools {

/// The file that `name` stands for, as execvp() finds it. Throws kith::error if there is none, or it cannot be run.
std::string file_of_program(const std::string& name);

/// Throws kith::error for programs that would not load the library, or not use it: those without a dynamic linker, with
/// the set-user-ID bit, for another machine, or linked with another OpenMP library. Scripts pass: what they start
/// inherits the setting.
void refuse_other_programs(const std::string& file);

/// Throws unless the file is a library that takes libgomp's place.
void refuse_other_library(const std::string& file);

}  // namespace kith::tools
