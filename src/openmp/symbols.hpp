// The names of functions that no dynamic symbol names, as those that compilers make of the bodies of tasks.
#pragma once

#include <cstdint>
#include <string>

namespace kith::openmp {

/// The symbol of the function at this address, from the symbol table of its file; if that has none, the file's name
/// and the place in it. Reads the file at each call.
std::string symbol_at(std::uintptr_t address);

}  // namespace kith::openmp
