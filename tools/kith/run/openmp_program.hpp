// What can be told of a program before it runs: which libraries can serve it in place of its OpenMP library.
#pragma once

#include <string>
#include <vector>

namespace kith::tools {

/// The file that `name` stands for, as execvp() finds it. Throws kith::error if there is none, or it cannot be run.
std::string file_of_program(const std::string& name);

/// Throws kith::error for programs that would not load the libraries: those without a dynamic linker, with the
/// set-user-ID bit, or for another machine. Scripts pass: what they start inherits the setting.
void refuse_other_programs(const std::string& file);

/// The names of the libraries to load in front of the program's own, the one first that it is linked with. All of them,
/// because its other libraries, and the programs that it starts, may be of another compiler.
std::vector<const char*> replacements_for(const std::string& file);

/// Throws unless the file is a library that takes an OpenMP library's place.
void refuse_other_library(const std::string& file);

}  // namespace kith::tools
