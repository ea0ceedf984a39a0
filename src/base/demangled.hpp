// Names of types as a person writes them.
#pragma once

#include <string>

namespace kith {

/// The readable form of the name that std::type_info gives, or that name itself if it does not come from the compiler.
std::string demangled(const char* name);

}  // namespace kith
